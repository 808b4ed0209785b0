"""Searches for programs that break contracts, and explains each difference that they show."""
