"""What an axis is: one thing that can vary in a program, and the points that are tried of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

Touched: TypeAlias = tuple[str, str]
"""The name of an axis, and that of one of its points."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point of an axis.

    Attributes:
        name: what it is called in reports.
        needs: the capability without which a saver has no such point, "durable" or "own store".
        heavy: it takes seconds: the profile "quick" leaves it out, and it meets nothing large.
        families: the families that try it, if not all of the axis do.
    """

    name: str
    needs: str | None = None
    heavy: bool = False
    families: frozenset[str] = frozenset()


# Each is itself alone: to hash all of its points, for every step, would take a while.
@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One thing that can vary.

    Attributes:
        name: what it is called in reports.
        points: what is tried of it, the plainest first.
        contracts: the ids of the contracts that speak of it.
        of_the_saver: it is the saver's own choice: one of the points is all that there is.
    """

    name: str
    points: tuple[Point, ...]
    contracts: frozenset[str]
    of_the_saver: bool = False

    def of(self, family: str, able: Collection[str]) -> tuple[Point, ...]:
        """The points that a family tries of a saver with these capabilities."""
        if not self.contracts_of(family):
            return ()
        own = (p for p in self.points if not p.families or family in p.families)
        return tuple(p for p in own if p.needs is None or p.needs in able)

    def contracts_of(self, family: str) -> frozenset[str]:
        """The contracts of a family that speak of it."""
        return frozenset(name for name in self.contracts if name.startswith(f"{family}/"))

    def at(self, point: str) -> Touched:
        """One of its points, as it is counted."""
        return self.name, point


def axis(name: str, contracts: str, *points: str | Point, of_the_saver: bool = False) -> Axis:
    """An axis of the contracts named in a text with blanks; a point may be its name alone."""
    made = tuple(Point(point) if isinstance(point, str) else point for point in points)
    return Axis(name, made, frozenset(contracts.split()), of_the_saver)
