"""How much may be spent on following up what programs show: in calls, and in seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MOST_CALLS = 400_000
"""Of an item whose time is not limited: some seconds of an ordinary saver."""
_TO_TELL = 0.1
"""The part that is kept for a program whose shortening was ended early: it is run once more."""


class OutOfPatience(Exception):  # noqa: N818 - nothing is wrong
    """So much was spent that what is not settled stays open."""


@dataclass(slots=True)
class Patience:
    """What an item may spend on follow-ups, in calls of the saver and, where given, in seconds.

    ``ended_early`` counts the follow-ups that were given up. Outside of a follow-up nothing is
    limited.
    """

    calls: float = MOST_CALLS
    seconds: float | None = None
    ended_early: int = 0
    _since: tuple[int, float] | None = None
    _kept: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        seconds = self.seconds or 0.0
        self._kept = _TO_TELL * self.calls, _TO_TELL * seconds
        self.calls -= self._kept[0]
        if self.seconds is not None:
            self.seconds -= self._kept[1]

    @contextmanager
    def following_up(self, calls: int) -> Iterator[None]:
        """A follow-up, before which the saver was called so many times."""
        self._since = calls, time.perf_counter()
        try:
            yield
        except OutOfPatience:
            self.ended_early += 1
        finally:
            self._since = None

    def check(self, calls: int) -> None:
        """Count what was spent since the last time.

        Raises:
            OutOfPatience: no more may be.
        """
        if self._since is None:
            return
        before, began = self._since
        self._since = calls, time.perf_counter()
        self.calls -= calls - before
        if self.seconds is not None:
            self.seconds -= self._since[1] - began
        if self.calls <= 0 or (self.seconds is not None and self.seconds <= 0):
            raise OutOfPatience

    def allow_the_last(self) -> None:
        """Allow what was kept for telling of what was found, once."""
        if self._kept is not None:
            calls, seconds = self._kept
            self.calls = max(self.calls, 0.0) + calls
            if self.seconds is not None:
                self.seconds = max(self.seconds, 0.0) + seconds
            self._kept = None
