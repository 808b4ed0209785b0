"""Kills graphs while they run, and resumes them."""
