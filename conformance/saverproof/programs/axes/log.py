"""A log of the points that programs touched, and of the pairs that met in one program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TypeAlias

from saverproof.programs.axes.axis import Axis, Touched
from saverproof.programs.axes.table import CROSSED, why_apart

Pair: TypeAlias = frozenset[Touched]


@dataclass(slots=True)
class AxisLog:
    """A count of the points touched, and the pairs of points that met in one program."""

    points: Counter[Touched] = field(default_factory=Counter)
    pairs: set[Pair] = field(default_factory=set)

    def add(self, touched: Counter[Touched], wanted: Iterable[Axis]) -> None:
        """Count the points that one program touched, and the pairs that met on the ``wanted``
        axes.
        """
        self.points.update(touched)
        names = {axis.name for axis in wanted}
        met = [point for point in touched if point[0] in names]
        self.pairs.update(frozenset(pair) for pair in combinations(met, 2))


def pairs_of(
    family: str, able: Collection[str], *, heavy: bool
) -> Iterator[tuple[Pair, str | None]]:
    """Yield the pairs of points that a family's programs must bring together.

    With each pair comes the reason if it cannot be, else None. Without ``heavy``, pairs with a
    point that takes seconds are left out.
    """
    for one, other in combinations(CROSSED.get(family, ()), 2):
        for left, right in product(one.of(family, able), other.of(family, able)):
            if heavy or not (left.heavy or right.heavy):
                pair = (one.at(left.name), other.at(right.name))
                yield frozenset(pair), why_apart(*pair)
