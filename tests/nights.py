"""What tests leave to the night: what only repeats, in other words, what others show by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TypeVar

import pytest

from tests.wrong_savers import WrongSaver

Value = TypeVar("Value")


def by_night(*values: object, id: str | None = None) -> pytest.ParameterSet:
    """Return the values of a test that is left to the night."""
    return pytest.param(*values, id=id, marks=pytest.mark.nightly)


def first_of_each(
    values: Iterable[Value], group: Callable[[Value], Hashable], most: int
) -> list[Value]:
    """Return the first values of each group: what is tried by day."""
    seen: Counter[Hashable] = Counter()
    chosen = []
    for value in values:
        seen[group(value)] += 1
        if seen[group(value)] <= most:
            chosen.append(value)
    return chosen


def wrong_savers_by_day(
    savers: Sequence[WrongSaver], most: int, slow: Collection[str] = ()
) -> list[WrongSaver]:
    """Return the first savers of each contract, none of them ``slow``: what is tried by day.

    The others break the same contracts again: they have their night.
    """
    quick = (saver for saver in savers if saver.name not in slow)
    return first_of_each(quick, lambda saver: saver.breaks, most)


def through_the_day(
    savers: Sequence[WrongSaver], most: int, slow: Collection[str] = ()
) -> list[pytest.ParameterSet]:
    """Return wrong savers as parameters, those that are not tried by day left to the night.

    Raises:
        AssertionError: a contract has none by day, or a slow one is none of the savers.
    """
    chosen = wrong_savers_by_day(savers, most, slow)
    assert {saver.breaks for saver in chosen} == {saver.breaks for saver in savers}
    assert {saver.name for saver in savers}.issuperset(slow)
    by_day = {saver.name for saver in chosen}
    return [
        pytest.param(saver, id=saver.name)
        if saver.name in by_day
        else by_night(saver, id=saver.name)
        for saver in savers
    ]


def by_turns(kinds: Iterable[str], others: Sequence[str]) -> list[pytest.ParameterSet]:
    """Return each kind with each of the ``others``, APIs for example: by day with one of them, in
    turns.
    """
    return [
        pytest.param(kind, other) if (number + turn) % len(others) == 0 else by_night(kind, other)
        for number, kind in enumerate(kinds)
        for turn, other in enumerate(others)
    ]
