"""Shortens sequences that show a goal: fewer items first, then simpler ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Attempt: TypeAlias = Callable[[tuple[T, ...]], tuple[T, ...] | None]
"""A function that tries a candidate. It returns what is left of it if it shows the goal, else
None.
"""


def without_spans(
    items: tuple[T, ...], attempt: Attempt[T], size: int | None = None
) -> tuple[T, ...]:
    """Return a sequence without any span of items that can be left out.

    Spans of ``size`` items (half of all by default) are tried first, then spans half as long, down
    to single items. They are tried from the back, where other items are less likely to need them.
    """
    size = max(len(items) // 2 if size is None else size, 1)
    while size:
        start = len(items)
        while start > 0:
            start = max(start - size, 0)
            candidate = items[:start] + items[start + size :]
            kept = attempt(candidate) if len(candidate) < len(items) else None
            if kept is not None:
                items = kept
            start = min(start, len(items))
        size //= 2
    return items


def with_simpler_items(
    items: tuple[T, ...],
    attempt: Attempt[T],
    simpler: Callable[[T, tuple[T, ...]], Iterator[T]],
) -> tuple[T, ...]:
    """Return a sequence with each item as simple as can be; equal items stay equal if possible.

    ``simpler`` gives the simpler forms of an item among the others, the simplest first.
    """
    place = 0
    while place < len(items):
        for candidate in _with_simpler(items, place, simpler):
            kept = attempt(candidate)
            if kept is not None:
                items = kept
                break
        else:
            place += 1
    return items


def _with_simpler(
    items: tuple[T, ...], place: int, simpler: Callable[[T, tuple[T, ...]], Iterator[T]]
) -> Iterator[tuple[T, ...]]:
    old = items[place]
    for new in simpler(old, items):
        if new == old:
            continue
        yield tuple(new if item == old else item for item in items)
        if items.count(old) > 1:
            yield (*items[:place], new, *items[place + 1 :])
