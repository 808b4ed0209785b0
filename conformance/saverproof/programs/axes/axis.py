"""Axes: each is one thing that can vary in a program, with the points that are tried."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

Touched: TypeAlias = tuple[str, str]
"""The name of an axis and the name of one of its points."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point of an axis.

    Attributes:
        name: the point's name in reports.
        needs: what a saver needs to have this point: a capability, "durable" or "own store".
        heavy: whether it takes seconds. The profile "quick" leaves it out, and no row has it.
        families: the families that try it; empty for all families of the axis.
    """

    name: str
    needs: str | None = None
    heavy: bool = False
    families: frozenset[str] = frozenset()


# Axes are compared by identity: hashing all points for every step would take too long.
@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One thing that can vary in programs.

    Attributes:
        name: the axis's name in reports.
        points: the points that are tried, the plainest first.
        contracts: the ids of the contracts that are about it.
    """

    name: str
    points: tuple[Point, ...]
    contracts: frozenset[str]

    def of(self, family: str, able: Collection[str]) -> tuple[Point, ...]:
        """Return the points that a family tries on a saver with these capabilities."""
        if not self.contracts_of(family):
            return ()
        own = (p for p in self.points if not p.families or family in p.families)
        return tuple(p for p in own if p.needs is None or p.needs in able)

    def contracts_of(self, family: str) -> frozenset[str]:
        """Return the family's contracts that are about this axis."""
        return frozenset(name for name in self.contracts if name.startswith(f"{family}/"))

    def at(self, point: str) -> Touched:
        """Return a point of this axis as the pair under which touched points are counted."""
        return self.name, point


def axis(name: str, contracts: str, *points: str | Point) -> Axis:
    """Return an axis. ``contracts`` has contract ids with blanks between; a point may be given by
    its name.
    """
    made = tuple(Point(point) if isinstance(point, str) else point for point in points)
    return Axis(name, made, frozenset(contracts.split()))
