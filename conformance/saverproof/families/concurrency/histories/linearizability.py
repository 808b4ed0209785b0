"""Looks for a legal order of a history: Wing and Gong's search with Lowe's memory.

J. M. Wing and C. Gong, "Testing and verifying concurrent objects" (JPDC 1993), search the orders of
operations that respect real time, depth first: next comes an operation that began before every
other one had ended. G. Lowe, "Testing for linearizability" (Concurrency and Computation 2017),
remembers each pair of operations already ordered and state reached, so that none is searched twice.
A history of several objects is linearizable if that of each is (Herlihy and Wing, TOPLAS 1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

State = TypeVar("State", bound=Hashable)
Action = TypeVar("Action")

MOST_CONFIGURATIONS = 50_000


class SearchResult(StrEnum):
    """The outcome of a search."""

    LEGAL = "there is a legal order"
    ILLEGAL = "there is no legal order"
    CUT_OFF = "the search was cut off"


@dataclass(frozen=True, slots=True)
class TimedOperation(Generic[Action]):
    """An operation that may have taken effect at any moment from ``began`` to ``ended``.

    If it is not ``certain``, because it raised or never returned, it may take effect at any time
    after it began, or never; ``ended`` then does not count.
    """

    began: float
    ended: float
    action: Action
    certain: bool = True

    @property
    def deadline(self) -> float:
        """The latest moment at which the operation has taken effect."""
        return self.ended if self.certain else math.inf


def search(
    steps: Sequence[TimedOperation[Action]],
    start: State,
    apply: Callable[[State, Action], Iterable[State]],
    most: int = MOST_CONFIGURATIONS,
) -> SearchResult:
    """Search for a legal order of the steps.

    ``apply`` gives the states that an action may lead to from a state; none if the action is
    impossible there. After ``most`` configurations the search is cut off.
    """
    ordered = sorted(steps, key=lambda step: step.began)
    needed = sum(1 << place for place, step in enumerate(ordered) if step.certain)
    pending = [(0, start)]
    seen = {(0, start)}
    while pending:
        done, state = pending.pop()
        if done & needed == needed:
            return SearchResult.LEGAL
        if len(seen) > most:
            return SearchResult.CUT_OFF
        for place, step in _next(ordered, done):
            for reached in apply(state, step.action):
                configuration = (done | 1 << place, reached)
                if configuration not in seen:
                    seen.add(configuration)
                    pending.append(configuration)
    return SearchResult.ILLEGAL


def endings(
    steps: Sequence[TimedOperation[Action]],
    start: State,
    apply: Callable[[State, Action], Iterable[State]],
) -> tuple[set[State], set[State]]:
    """Return the states in which the legal orders of a few steps end, and all states on the way."""
    ordered = sorted(steps, key=lambda step: step.began)
    needed = sum(1 << place for place, step in enumerate(ordered) if step.certain)
    pending = [(0, start)]
    seen = {(0, start)}
    while pending:
        done, state = pending.pop()
        for place, step in _next(ordered, done):
            for reached in apply(state, step.action):
                configuration = (done | 1 << place, reached)
                if configuration not in seen:
                    seen.add(configuration)
                    pending.append(configuration)
    ends = {state for done, state in seen if done & needed == needed}
    return ends, {state for _, state in seen}


def _next(
    ordered: list[TimedOperation[Action]], done: int
) -> Iterable[tuple[int, TimedOperation[Action]]]:
    """Return the steps that may come next: those that began before any other remaining step had
    ended.
    """
    left = [(place, step) for place, step in enumerate(ordered) if not done >> place & 1]
    first_end = min((step.deadline for _, step in left), default=math.inf)
    return [(place, step) for place, step in left if step.began <= first_end]
