"""How long an item may take, and what it left out for that: what is not named was done."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

SHORTENED_WITHIN = 1.3
"""Within which part of the limit what was found is shortened: red takes longer than green."""


@dataclass(slots=True)
class Budget:
    """The seconds of one item, from when this is made; without a limit there is always room.

    ``planned`` and ``done`` count what may be left out, by what it is.
    """

    limit_s: float | None = None
    planned: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    _started: float = field(default_factory=time.perf_counter)

    @property
    def spent_s(self) -> float:
        """The seconds that are gone."""
        return time.perf_counter() - self._started

    def has_room(self, seconds: float = 0.0, share: float = 1.0) -> bool:
        """Whether something that takes so long ends within a share of the limit."""
        return self.limit_s is None or self.spent_s + seconds < share * self.limit_s

    def within(
        self, items: Sequence[T], what: str, share: float = 1.0, least: int = 1
    ) -> Iterator[T]:
        """The items in order, as long as one more is likely to end within a share of the limit; the
        first ones in any case.
        """
        longest_s = 0.0
        for number, item in enumerate(items):
            if number >= least and not self.has_room(longest_s, share):
                self.leave_out(what, number, len(items))
                return
            before = self.spent_s
            yield item
            longest_s = max(longest_s, self.spent_s - before)

    def ordered(self, items: Iterable[T], kind: Callable[[T], Hashable]) -> list[T]:
        """The items in their order; where not all may be done, one of each kind first."""
        if self.limit_s is None:
            return list(items)
        of_kind: defaultdict[Hashable, int] = defaultdict(int)
        turns: list[tuple[int, T]] = []
        for item in items:
            turns.append((of_kind[kind(item)], item))
            of_kind[kind(item)] += 1
        return [item for _, item in sorted(turns, key=lambda turn: turn[0])]

    def count(self, what: str, *, done: bool) -> None:
        """One thing was planned, and perhaps done."""
        self.leave_out(what, int(done), 1)

    def leave_out(self, what: str, done: int, planned: int) -> None:
        """So many were planned, and as many of them done as there was time for."""
        self.planned[what] += planned
        self.done[what] += done

    @property
    def left_out(self) -> dict[str, tuple[int, int]]:
        """What was not done to its end: what was done of it, and what was planned."""
        return {
            what: (self.done[what], planned)
            for what, planned in self.planned.items()
            if self.done[what] < planned
        }

    @property
    def reason(self) -> str:
        """Why a contract was not reached."""
        left = ", ".join(
            f"{of - done} of {of} {what}" for what, (done, of) in self.left_out.items()
        )
        return f"left out within {self.limit_s:.0f} s: {left}; a larger --saver-budget reaches it"

    def as_data(self) -> dict[str, Any]:
        """The section "budget" of an item."""
        return {
            "limit_s": self.limit_s,
            "took_s": round(self.spent_s, 3),
            "left_out": [
                {"what": what, "done": done, "planned": planned}
                for what, (done, planned) in self.left_out.items()
            ],
        }


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in order, ``size`` at a time, or what is left of them."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
