"""Runs a recorded violation again: fixed, still failing, or not to be told. Nothing is searched."""
