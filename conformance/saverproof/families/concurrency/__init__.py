"""Judges a saver that several callers use at once: threads, tasks, savers and processes."""
