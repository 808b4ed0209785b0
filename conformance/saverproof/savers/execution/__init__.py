"""Runs steps on a saver through one of its APIs, and returns its answers."""
