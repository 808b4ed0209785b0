"""Runs steps on a saver through one API and hands back what it answered."""
