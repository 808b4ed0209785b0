"""Plays scenes of one question each: first use, listings, stopped workers, crossing calls."""
