"""Points of axes that are named by how many there are of something."""

from __future__ import annotations


def at_least(many: int, *bounds: tuple[int, str]) -> str | None:
    """The name of the highest bound that a number reaches."""
    return next((name for bound, name in reversed(bounds) if many >= bound), None)
