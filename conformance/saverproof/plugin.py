"""The pytest plugin (to be written)."""
