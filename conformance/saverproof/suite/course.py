"""How far a run is, and how long it still takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_BELIEVED_S = 5.0
"""The estimates count as borne out for so long: a short first item says little of the others."""
_STILL = 0.1
"""The part of an item that is left at least while it runs, however long it took."""


@dataclass(slots=True)
class Course:
    """The items of a run: what each is estimated to take, when it began, and how long it took.

    Attributes:
        expected: seconds by the name of an item; what is not there takes none.
        workers: how many items run at the same time.
        began: when the items that run now began.
        took: seconds of those that ended.
    """

    expected: Mapping[str, float]
    workers: int
    began: dict[str, float] = field(default_factory=dict)
    took: dict[str, float] = field(default_factory=dict)

    def begin(self, name: str, now: float) -> None:
        """An item begins."""
        self.began[name] = now

    def end(self, name: str, now: float) -> None:
        """An item has ended."""
        if name in self.began:
            self.took[name] = now - self.began.pop(name)

    def left_s(self, now: float) -> float:
        """About how many seconds the run still takes.

        The estimates are held against what the items took that have ended: another machine, or one
        with other work, is slower throughout.
        """
        pace = self._pace(now)
        running = [
            max(pace * self.expected.get(name, 0.0) - (now - since), self._least(name, pace))
            for name, since in self.began.items()
        ]
        waiting = [
            pace * seconds
            for name, seconds in self.expected.items()
            if name not in self.took and name not in self.began
        ]
        left = running + waiting
        return max(sum(left) / self.workers, max(left, default=0.0))

    def _least(self, name: str, pace: float) -> float:
        return _STILL * pace * self.expected.get(name, 0.0)

    def _pace(self, now: float) -> float:
        """How many seconds a second of the estimates turned out to be."""
        took, estimated = _BELIEVED_S, _BELIEVED_S
        for name, seconds in self.took.items():
            took += seconds
            estimated += self.expected.get(name, 0.0)
        for name, since in self.began.items():
            # One that is late already tells as much as one that has ended.
            if now - since > self.expected.get(name, 0.0):
                took += now - since
                estimated += self.expected.get(name, 0.0)
        return took / estimated
