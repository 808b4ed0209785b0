"""Plays graphs while someone prunes, copies or deletes threads."""
