"""What programs have touched: points of axes, and which of them met in a program."""

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
    """Counts the points that the steps of programs touched, and remembers the pairs that met."""

    points: Counter[Touched] = field(default_factory=Counter)
    pairs: set[Pair] = field(default_factory=set)

    def add(self, touched: Counter[Touched], wanted: Iterable[Axis]) -> None:
        """Count what one program touched; of the axes ``wanted`` what met is kept, too."""
        self.points.update(touched)
        names = {axis.name for axis in wanted}
        met = [point for point in touched if point[0] in names]
        self.pairs.update(frozenset(pair) for pair in combinations(met, 2))


def pairs_of(
    family: str, able: Collection[str], *, heavy: bool
) -> Iterator[tuple[Pair, str | None]]:
    """The pairs of points that the programs of a family are to bring together; of those that
    cannot be, why. Without ``heavy`` those that take seconds are none of them.
    """
    for one, other in combinations(CROSSED.get(family, ()), 2):
        for left, right in product(one.of(family, able), other.of(family, able)):
            if heavy or not (left.heavy or right.heavy):
                pair = (one.at(left.name), other.at(right.name))
                yield frozenset(pair), why_apart(*pair)
