"""Find the law by which counts grow with a size: the simplest one that fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean
from types import MappingProxyType


class GrowthOrder(StrEnum):
    """The orders of growth, from the slowest to the fastest."""

    CONSTANT = "constant"
    LOGARITHMIC = "logarithmic"
    LINEAR = "linear"
    MORE = "more than linear"

    def exceeds(self, other: GrowthOrder) -> bool:
        """Return whether this order grows faster than the other."""
        orders = list(GrowthOrder)
        return orders.index(self) > orders.index(other)


_SHAPES: Mapping[GrowthOrder, Callable[[float], float]] = MappingProxyType(
    {GrowthOrder.LOGARITHMIC: math.log, GrowthOrder.LINEAR: lambda size: size}
)

RELATIVE = 0.25
"""Share of the count at the smallest size within which differences are no growth. Sizes grow
64-fold in all, so a law that matters at ten thousand has long left it.
"""


@dataclass(frozen=True, slots=True)
class Law:
    """The order by which ``counts`` grow at ``sizes``."""

    sizes: tuple[int, ...]
    counts: tuple[int, ...]
    order: GrowthOrder

    @property
    def first(self) -> int:
        """The count at the smallest size."""
        return self.counts[0]

    @property
    def last(self) -> int:
        """The count at the largest size."""
        return self.counts[-1]

    @property
    def deepest_fall(self) -> int:
        """The largest amount by which a count is below the count at the size before; 0 if no count
        falls.
        """
        return max(0, *(earlier - later for earlier, later in pairwise(self.counts)))

    @property
    def per_item(self) -> float:
        """The counts that one more item adds, between the last two sizes."""
        return (self.counts[-1] - self.counts[-2]) / (self.sizes[-1] - self.sizes[-2])


def law_of(
    sizes: Sequence[int], counts: Sequence[int], slack: int, relative: float = RELATIVE
) -> Law:
    """Return the simplest law that fits.

    Differences up to ``slack``, or up to a ``relative`` share of the first count, are no growth.

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
"""Share of the way from the exponent of a line (1) to that of a square (2), from which on growth is
more than linear.
"""


def _order(sizes: Sequence[int], counts: Sequence[int], slack: int) -> GrowthOrder:
    if max(counts) - counts[0] <= slack:
        return GrowthOrder.CONSTANT
    if _exceeds_lines(sizes, counts, slack):
        return GrowthOrder.MORE
    # A tree takes more at each level, a loop for each item. The two differ most at the last size,
    # so that size decides, however uneven the steps between are.
    misfits = {
        order: _misfit([shape(size) for size in sizes], counts) for order, shape in _SHAPES.items()
    }
    return min(misfits, key=lambda order: misfits[order])


def _exceeds_lines(sizes: Sequence[int], counts: Sequence[int], slack: int) -> bool:
    """Return whether the count grows faster than the size, from each size to the next.

    A single leap does not suffice: it may be that of a full cache.
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
    """Return the least sum of squares that ``a + b * shape`` leaves unexplained."""
    mean_shape, mean_count = fmean(shape), fmean(counts)
    spread = sum((one - mean_shape) ** 2 for one in shape)
    common = sum((s - mean_shape) * (c - mean_count) for s, c in zip(shape, counts, strict=True))
    # A count that falls as the size grows is explained by none.
    slope = max(common / spread, 0.0)
    return sum(
        (count - mean_count - slope * (one - mean_shape)) ** 2
        for one, count in zip(shape, counts, strict=True)
    )
