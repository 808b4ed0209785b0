"""The programs that cross a family's axes, and an account of the points that they leave
untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from saverproof.capability import Capability
from saverproof.programs.axes import table
from saverproof.programs.axes.axis import Axis
from saverproof.programs.axes.building import BESIDE, COPY, THREAD, program_of
from saverproof.programs.axes.covering import Row, drawn_row, rows
from saverproof.programs.axes.deltas import delta_program
from saverproof.programs.axes.heavy import HEAVY_PROGRAMS
from saverproof.programs.axes.log import AxisLog, Pair, pairs_of
from saverproof.programs.rewriting.renaming import renamed
from saverproof.programs.steps.definitions import Program

NO_ROOM = "it takes seconds, for which this profile or budget has no room"
NOT_REACHED = "no program of this run used"


def crossing(family: str, able: Collection[str], *, heavy: bool) -> Iterator[Program]:
    """Yield the programs in which any two points of a family's axes come together.

    ``able`` are the saver's capabilities. With ``heavy``, programs that take seconds are given too.
    """
    made = _made_of_rows(family, able)
    if made is None:
        return
    yield from map(made, rows(family, able))
    if heavy:
        yield from HEAVY_PROGRAMS.get(family, ())


_ASIDE = {THREAD: "x", BESIDE: "y", COPY: "z"}
_HEAVY = 1 / 20
"""The share of drawn programs that take seconds, if the family has such programs."""


def drawn_crossing(family: str, able: Collection[str], choose: Random) -> Program:
    """Return a program with random points of a family's axes, on threads that no theme names.

    Return () if the saver can take none of the family's programs.
    """
    made = _made_of_rows(family, able)
    heavy = HEAVY_PROGRAMS.get(family, ()) if Capability.LARGE in able else ()
    if made is None:
        return ()
    is_heavy = heavy and choose.random() < _HEAVY
    drawn = choose.choice(heavy) if is_heavy else made(drawn_row(family, able, choose))
    return renamed(drawn, "thread", _ASIDE)


def _made_of_rows(family: str, able: Collection[str]) -> Callable[[Row], Program] | None:
    """Return the function that makes a program from a row; None if the saver can take no
    program.
    """
    if table.DELTA not in table.CROSSED.get(family, ()):
        return program_of
    return delta_program if table.DELTA.of(family, able) else None


@dataclass(frozen=True, slots=True)
class AxisAccount:
    """An account of the points that a family's programs touched.

    ``heavy`` tells whether points that take seconds were to be tried.
    """

    family: str
    able: frozenset[str]
    heavy: bool
    log: AxisLog

    def axes(self) -> Iterator[Axis]:
        """Return the axes of the family for which the saver has a point."""
        return (axis for axis in table.AXES if axis.of(self.family, self.able))

    def untouched(self) -> Iterator[tuple[Axis, str, str]]:
        """Yield the points that were not touched, with the reason."""
        for axis in self.axes():
            for point in axis.of(self.family, self.able):
                if self.log.points[axis.at(point.name)] == 0:
                    left_out = point.heavy and not self.heavy
                    yield axis, point.name, NO_ROOM if left_out else NOT_REACHED

    def gaps(self) -> dict[str, str]:
        """Return, for each contract, the points of its axes that should have been touched and were
        not.
        """
        gaps: dict[str, list[str]] = {}
        for axis, point, why in self.untouched():
            if why is NOT_REACHED:
                for contract in axis.contracts_of(self.family):
                    gaps.setdefault(contract, []).append(f"{axis.name}: {point}")
        return {
            contract: f"{NOT_REACHED}: {'; '.join(points)}" for contract, points in gaps.items()
        }

    def as_data(self) -> dict[str, Any]:
        """Return the ``axes`` section of an item's report."""
        wanted = dict(pairs_of(self.family, self.able, heavy=self.heavy))
        open_ = [pair for pair, why in wanted.items() if why is None]
        return {
            "points": [
                {
                    "axis": axis.name,
                    "contracts": sorted(axis.contracts_of(self.family)),
                    "touched": self._touched(axis),
                }
                for axis in self.axes()
            ],
            "untouched": [
                {"family": self.family, "axis": axis.name, "point": point, "why": why}
                for axis, point, why in self.untouched()
            ],
            "pairs": {
                "of": len(open_),
                "covered": sum(pair in self.log.pairs for pair in open_),
                "missing": [self._told(pair) for pair in open_ if pair not in self.log.pairs],
                "left_out": [
                    self._told(pair) | {"why": why} for pair, why in wanted.items() if why
                ],
            },
        }

    def _touched(self, axis: Axis) -> dict[str, int]:
        """Return how often each point was touched."""
        points = axis.of(self.family, self.able)
        return {point.name: self.log.points[axis.at(point.name)] for point in points}

    def _told(self, pair: Pair) -> dict[str, Any]:
        return {
            "family": self.family,
            "pair": sorted(f"{axis}: {point}" for axis, point in pair),
        }
