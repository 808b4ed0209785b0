"""Names of points that stand for numbers: how many there are of something."""

from __future__ import annotations


def at_least(many: int, *bounds: tuple[int, str]) -> str | None:
    """Return the name of the highest bound that a number reaches, or None if it reaches none."""
    return next((name for bound, name in reversed(bounds) if many >= bound), None)
