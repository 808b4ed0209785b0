"""Judges a saver that is used at once by several threads, tasks, saver objects or processes."""
