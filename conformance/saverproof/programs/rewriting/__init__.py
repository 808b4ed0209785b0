"""Rewrites and shortens programs."""
