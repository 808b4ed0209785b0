"""Compares answers with the model, blames contracts, and searches for the shortest program."""
