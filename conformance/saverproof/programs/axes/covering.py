"""The rows of an array in which any two points of a family's axes come together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product
from random import Random

from allpairspy import AllPairs

from saverproof.programs.axes.axis import Touched
from saverproof.programs.axes.table import CROSSED, why_apart

Row = Mapping[str, str]
"""Name of an axis -> name of one of its points."""


def rows(family: str, able: Collection[str]) -> list[Row]:
    """The rows of a family's array for a saver with these capabilities: the same ones always.

    Any two points of different axes are together in one of them, but for those that are heavy or
    are kept apart (:func:`saverproof.programs.axes.table.why_apart`).
    """
    points = _points(family, able)
    if len(points) < 2:
        return [{name: point} for given in points for name, point in given]
    made = [tuple(row) for row in AllPairs(points, filter_func=_may_be_together)]
    met = {pair for row in made for pair in combinations(row, 2)}
    # Where points are kept apart, the library leaves out a pair now and then.
    for axes in combinations(points, 2):
        for pair in product(*axes):
            if pair not in met and _may_be_together(pair):
                row = _filled_up(pair, points)
                made.append(row)
                met.update(combinations(row, 2))
    return [dict(row) for row in made]


def drawn_row(family: str, able: Collection[str], choose: Random) -> Row:
    """A row of points that are drawn; of those kept apart the plainer one may stand for another."""
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
    """A row with a pair of points and the plainest of the others that may be with them."""
    given = dict(pair)
    row: list[Touched] = list(pair)
    for of_axis in points:
        if of_axis[0][0] not in given:
            row.append(next(p for p in of_axis if _may_be_together([*row, p])))
    order = [of_axis[0][0] for of_axis in points]
    return tuple(sorted(row, key=lambda point: order.index(point[0])))


def _may_be_together(row: Sequence[Touched]) -> bool:
    # The library asks about rows that are not filled yet, too.
    return all(why_apart(*pair) is None for pair in combinations(row, 2))
