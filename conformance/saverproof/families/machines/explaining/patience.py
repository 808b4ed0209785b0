"""Patience: a limit on following up what programs show, in calls and in seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MOST_CALLS = 400_000
"""The most calls of the saver that follow-ups of an item without a time limit may take: some
seconds for an ordinary saver.
"""
_TO_TELL = 0.1
"""The share kept back to run a program once more if its shortening was ended early."""


class OutOfPatience(Exception):  # noqa: N818 - nothing is wrong
    """The signal that the limit is spent. What is not settled stays open."""


@dataclass(slots=True)
class Patience:
    """A limit on the follow-ups of an item, in calls of the saver and, if given, in seconds.

    ``ended_early`` counts the follow-ups that were given up. Outside of follow-ups nothing is
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
        """Limit the block, which is a follow-up. ``calls`` is how often the saver was called before
        it.

        The block is ended early, without an exception, if the limit is spent.
        """
        self._since = calls, time.perf_counter()
        try:
            yield
        except OutOfPatience:
            self.ended_early += 1
        finally:
            self._since = None

    def check(self, calls: int) -> None:
        """Count the calls and the time since the last check.

        Raises:
            OutOfPatience: the limit is spent.
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
        """Allow, once, the share of the limit that was kept back for reporting findings."""
        if self._kept is not None:
            calls, seconds = self._kept
            self.calls = max(self.calls, 0.0) + calls
            if self.seconds is not None:
                self.seconds = max(self.seconds, 0.0) + seconds
            self._kept = None
