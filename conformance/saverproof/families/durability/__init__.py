"""Kills processes that use a saver, cuts the power, and judges what is left."""
