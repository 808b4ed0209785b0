"""Counts what a process holds for its saver, after few operations and after many."""
