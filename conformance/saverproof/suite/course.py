"""The progress of a run, and an estimate of how long it still takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_BELIEVED_S = 5.0
"""Seconds of an item for which estimates count as right: a short first item says little of the
others.
"""
_STILL = 0.1
"""The least share of an item's estimate that counts as left while it runs, however long it has
taken.
"""
_AGAIN = 0.5
"""How long an item that is late is expected to run on, as a share of its delay so far. It is late
because it looks into a breach; the longer it has been late, the longer it is likely to go on.
"""


@dataclass(slots=True)
class Course:
    """The items of a run with their estimates, starting times and durations.

    Attributes:
        expected: estimated seconds by item; an item that is missing takes none.
        workers: the number of items that run at the same time.
        began: the starting times of the items that run now.
        took: the seconds of the items that have ended.
    """

    expected: Mapping[str, float]
    workers: int
    began: dict[str, float] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)

    def begin(self, name: str, now: float) -> None:
        """Note that an item begins."""
        self.began[name] = now

    def end(self, name: str, now: float) -> None:
        """Note that an item has ended."""
        if name in self.began:
            self.took[name] = now - self.began.pop(name)

    def left_s(self, now: float) -> float:
        """Return about how many seconds the run still takes.

        The estimates are scaled by what the items took so far: a slower machine, or one with other
        work, is slower for all items.
        """
        pace = self._pace(now)
        running = [self._left_of(name, now - since, pace) for name, since in self.began.items()]
        waiting = [
            pace * seconds
            for name, seconds in self.expected.items()
            if name not in self.took and name not in self.began
        ]
        left = running + waiting
        return max(sum(left) / self.workers, max(left, default=0.0))

    def _left_of(self, name: str, ran_s: float, pace: float) -> float:
        expected_s = self.expected.get(name, 0.0)
        took, estimated = self._ended()
        late_s = ran_s - took / estimated * expected_s
        return max(pace * expected_s - ran_s, _STILL * pace * expected_s, _AGAIN * late_s)

    def _ended(self) -> tuple[float, float]:
        """Return the seconds that the ended items took, and those that were estimated."""
        took, estimated = _BELIEVED_S, _BELIEVED_S
        for name, seconds in self.took.items():
            took += seconds
            estimated += self.expected.get(name, 0.0)
        return took, estimated

    def _pace(self, now: float) -> float:
        """Return how many seconds it really takes to do what was estimated as one second."""
        took, estimated = self._ended()
        for name, since in self.began.items():
            # An item that is late already counts like one that has ended.
            if now - since > self.expected.get(name, 0.0):
                took += now - since
                estimated += self.expected.get(name, 0.0)
        return took / estimated
