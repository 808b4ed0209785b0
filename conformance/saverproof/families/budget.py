"""The time that an item may take, and a record of what was left out for lack of time."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

SHORTENED_WITHIN = 1.3
"""Share of the limit within which findings are shrunk. It is above 1: a run with findings may take
longer than one without.
"""


@dataclass(slots=True)
class Budget:
    """The seconds that one item may take from now on; without a limit there is always time.

    ``planned`` and ``done`` count what may be left out, by its name.
    """

    limit_s: float | None = None
    planned: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    _started: float = field(default_factory=time.perf_counter)

    @property
    def spent_s(self) -> float:
        """The seconds that have passed."""
        return time.perf_counter() - self._started

    def has_room(self, seconds: float = 0.0, share: float = 1.0) -> bool:
        """Return whether something that takes ``seconds`` ends within a share of the limit."""
        return self.limit_s is None or self.spent_s + seconds < share * self.limit_s

    def within(
        self, items: Sequence[T], what: str, share: float = 1.0, least: int = 1
    ) -> Iterator[T]:
        """Yield the items in order, while one more is likely to end within a share of the limit.

        The first ``least`` items are yielded in any case.
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
        """Return the items in their order. Under a limit, one item of each kind comes first."""
        if self.limit_s is None:
            return list(items)
        of_kind: defaultdict[Hashable, int] = defaultdict(int)
        turns: list[tuple[int, T]] = []
        for item in items:
            turns.append((of_kind[kind(item)], item))
            of_kind[kind(item)] += 1
        return [item for _, item in sorted(turns, key=lambda turn: turn[0])]

    def count(self, what: str, *, done: bool) -> None:
        """Count one thing that was planned, and whether it was done."""
        self.leave_out(what, int(done), 1)

    def leave_out(self, what: str, done: int, planned: int) -> None:
        """Count ``planned`` things, of which there was time for ``done``."""
        self.planned[what] += planned
        self.done[what] += done

    @property
    def left_out(self) -> dict[str, tuple[int, int]]:
        """The things that were not all done: name -> (number done, number planned)."""
        return {
            what: (self.done[what], planned)
            for what, planned in self.planned.items()
            if self.done[what] < planned
        }

    @property
    def reason(self) -> str:
        """The reason why a contract was not reached, for people."""
        left = ", ".join(
            f"{of - done} of {of} {what}" for what, (done, of) in self.left_out.items()
        )
        return f"left out within {self.limit_s:.0f} s: {left}; a larger --saver-budget reaches it"

    def as_data(self) -> dict[str, Any]:
        """Return the section "budget" of an item."""
        return {
            "limit_s": self.limit_s,
            "took_s": round(self.spent_s, 3),
            "left_out": [
                {"what": what, "done": done, "planned": planned}
                for what, (done, planned) in self.left_out.items()
            ],
        }


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in order, ``size`` at a time; the last batch may be smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
