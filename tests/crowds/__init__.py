"""Savers with many flaws at once: what a run says of them, and in which order they are mended."""
