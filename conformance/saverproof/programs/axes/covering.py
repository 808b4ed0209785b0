"""Rows of an array in which any two points of a family's axes come together (all-pairs testing)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product
from random import Random

from allpairspy import AllPairs

from saverproof.programs.axes.axis import Touched
from saverproof.programs.axes.table import CROSSED, why_apart

Row = Mapping[str, str]
"""The name of a point for each axis, by the axis's name."""


def rows(family: str, able: Collection[str]) -> list[Row]:
    """Return the rows of a family for a saver with these capabilities, the same in every run.

    Any two points of different axes come together in a row, except for heavy points and pairs that
    are kept apart (:func:`saverproof.programs.axes.table.why_apart`).
    """
    points = _points(family, able)
    if len(points) < 2:
        return [{name: point} for given in points for name, point in given]
    made = [tuple(row) for row in AllPairs(points, filter_func=_may_be_together)]
    met = {pair for row in made for pair in combinations(row, 2)}
    # If points are kept apart, allpairspy sometimes leaves out a pair.
    for axes in combinations(points, 2):
        for pair in product(*axes):
            if pair not in met and _may_be_together(pair):
                row = _filled_up(pair, points)
                made.append(row)
                met.update(combinations(row, 2))
    return [dict(row) for row in made]


def drawn_row(family: str, able: Collection[str], choose: Random) -> Row:
    """Return a row of random points. If two points are kept apart, a plainer one replaces the
    second.
    """
    row: list[Touched] = []
    for of_axis in _points(family, able):
        drawn = [choose.choice(of_axis), *of_axis]
        row.append(next(point for point in drawn if _may_be_together([*row, point])))
    return dict(row)


def _points(family: str, able: Collection[str]) -> list[list[Touched]]:
    points = [
        [axis.at(p.name) for p in axis.of(family, able) if not p.heavy]
        for axis in CROSSED.get(family, ())
    ]
    return [given for given in points if given]


def _filled_up(pair: Sequence[Touched], points: list[list[Touched]]) -> tuple[Touched, ...]:
    """Return a row with this pair of points, and the plainest points of the other axes that fit."""
    given = dict(pair)
    row: list[Touched] = list(pair)
    for of_axis in points:
        if of_axis[0][0] not in given:
            row.append(next(p for p in of_axis if _may_be_together([*row, p])))
    order = [of_axis[0][0] for of_axis in points]
    return tuple(sorted(row, key=lambda point: order.index(point[0])))


def _may_be_together(row: Sequence[Touched]) -> bool:
    # allpairspy also asks about rows that are only partly filled.
    return all(why_apart(*pair) is None for pair in combinations(row, 2))
