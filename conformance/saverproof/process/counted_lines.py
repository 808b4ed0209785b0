"""Counts the lines of Python that a call takes, and ends a call that takes too many.

Unlike a clock, the count is the same on a busy machine, and a loop that never ends is told within
milliseconds. Loops inside a database's engine are not seen.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NOT_COUNTED = frozenset({"asyncio", "concurrent", "importlib", "selectors", "threading"})
"""Packages whose lines do not count: they serve other calls on the same thread as well, and an
event loop would not survive the end of a call in one of its own lines.
"""


class TooManyLinesError(BaseException):
    """The end of a call that takes too many lines; a saver's ``except Exception`` lets it pass."""


class LineCount:
    """A count of lines. A call that goes on after ``limit`` lines is ended.

    ``active`` is True while lines are counted, on any thread. ``exceeded`` is True once a call was
    ended, on any thread; ``exceeded_elsewhere``, if the lines were run by another thread than the
    one that made the call.
    """

    def __init__(self) -> None:
        self.lines = 0
        self.limit = sys.maxsize
        self.active = False
        self.exceeded = False
        self.exceeded_elsewhere = False
        self._callers: set[int] = set()
        self._given_up = False

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count, in a block, the lines of this thread and of threads that are started meanwhile."""
        here, later = sys.gettrace(), threading.gettrace()
        before, self.active = self.active, True
        self._callers.add(threading.get_ident())
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            yield
        finally:
            self.active = before
            sys.settrace(here)
            threading.settrace(later)

    @contextmanager
    def following_threads(self) -> Iterator[None]:
        """Count the lines of threads that are started in a block as well, while lines are counted.

        A pool has its threads before the call that is counted.
        """
        later = threading.gettrace()
        threading.settrace(self._trace)
        try:
            yield
        finally:
            threading.settrace(later)

    def give_up(self) -> None:
        """Stop counting for good, in a call that never ends. If it comes to another line, it is
        ended: it would go on beside all that follows, with ever more memory.
        """
        self._given_up = True
        if threading.gettrace() == self._trace:
            threading.settrace(None)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        if not self.active:
            return None
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_COUNTED:
            return None
        if self._given_up:
            raise TooManyLinesError("nobody waits any more")
        self.lines += 1
        if self.lines > self.limit:
            self.exceeded = True
            self.exceeded_elsewhere |= threading.get_ident() not in self._callers
            raise TooManyLinesError(f"more than {self.limit:,} lines")
        return self._trace
