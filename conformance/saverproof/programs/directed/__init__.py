"""Directed programs: short ones that try each member of a finite set, with no chance in it."""
