"""Cuts the power, and opens the disks that it may leave."""
