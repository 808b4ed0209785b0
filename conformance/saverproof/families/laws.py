"""How counts grow with a size: the simplest law that fits them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean
from types import MappingProxyType


class Order(StrEnum):
    """From the slowest to the fastest."""

    CONSTANT = "constant"
    LOGARITHMIC = "logarithmic"
    LINEAR = "linear"
    MORE = "more than linear"

    def exceeds(self, other: Order) -> bool:
        """Whether it grows faster."""
        orders = list(Order)
        return orders.index(self) > orders.index(other)


_SHAPES: Mapping[Order, Callable[[float], float]] = MappingProxyType(
    {Order.LOGARITHMIC: math.log, Order.LINEAR: lambda size: size}
)

RELATIVE = 0.25
"""Of the count at the smallest size: what lies within is no growth. Sizes grow by 64 in all, so
that a law which matters at ten thousand has long left it.
"""


@dataclass(frozen=True, slots=True)
class Law:
    """``counts`` at ``sizes``, and how they grow."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    order: Order

    @property
    def first(self) -> int:
        """The count at the smallest size."""
        return self.counts[0]

    @property
    def last(self) -> int:
        """The count at the largest size."""
        return self.counts[-1]

    @property
    def per_item(self) -> float:
        """What one more of what grows adds, between the last two sizes."""
        return (self.counts[-1] - self.counts[-2]) / (self.sizes[-1] - self.sizes[-2])


def law_of(
    sizes: Sequence[int], counts: Sequence[int], slack: int, relative: float = RELATIVE
) -> Law:
    """The simplest law that fits. Differences up to ``slack``, or to a part of the first count, are
    none.

    Raises:
        ValueError: there are fewer than three sizes, or not a count for each.
    """
    if len(sizes) < 3 or len(sizes) != len(counts):
        raise ValueError(
            f"found {len(sizes)} sizes and {len(counts)} counts, expected three or more of both"
        )
    none = max(slack, int(relative * counts[0]))
    return Law(tuple(sizes), tuple(counts), _order(sizes, counts, none))


_SQUARED = 0.5
"""Of the way, on a scale of powers, from a line (1) to a square (2): from there on it is more."""


def _order(sizes: Sequence[int], counts: Sequence[int], slack: int) -> Order:
    if max(counts) - counts[0] <= slack:
        return Order.CONSTANT
    if _exceeds_lines(sizes, counts, slack):
        return Order.MORE
    # What a tree takes more at each level, and what a loop takes more for each item, differ at the
    # last size the most: that decides, however uneven the steps between are.
    misfits = {
        order: _misfit([shape(size) for size in sizes], counts) for order, shape in _SHAPES.items()
    }
    return min(misfits, key=lambda order: misfits[order])


def _exceeds_lines(sizes: Sequence[int], counts: Sequence[int], slack: int) -> bool:
    """Whether the count grows faster than the size from each size to the next: one leap may be
    that of a full cache.
    """
    steps = [
        (later - earlier, bigger - smaller)
        for (smaller, earlier), (bigger, later) in pairwise(zip(sizes, counts, strict=True))
    ]
    if any(count <= slack for count, _ in steps):
        return False
    powers = [
        math.log(second[0] / first[0], second[1] / first[1]) for first, second in pairwise(steps)
    ]
    return all(power > 1 + _SQUARED for power in powers)


def _misfit(shape: Sequence[float], counts: Sequence[int]) -> float:
    """The least sum of squares of what ``a + b * shape`` leaves unexplained."""
    mean_shape, mean_count = fmean(shape), fmean(counts)
    spread = sum((one - mean_shape) ** 2 for one in shape)
    common = sum((s - mean_shape) * (c - mean_count) for s, c in zip(shape, counts, strict=True))
    # A count that falls as the size grows is explained by none.
    slope = max(common / spread, 0.0)
    return sum(
        (count - mean_count - slope * (one - mean_shape)) ** 2
        for one, count in zip(shape, counts, strict=True)
    )
