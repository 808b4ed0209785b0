"""Writes standalone scripts of what goes wrong between callers."""
