"""Kills processes at places of their programs, and judges what is left of their operations."""
