"""Writes standalone scripts that make an operation fail."""
