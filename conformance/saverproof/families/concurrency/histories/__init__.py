"""Plays histories, and looks for an order of their calls that explains all answers."""
