"""Python's garbage collector, held off for as long as SQLite calls back into Python.

A cursor of Python's `sqlite3` that is collected resets its statement, which later cursors share
through the connection's cache. Collected within a callback, that may be the statement which is
being executed: SQLite then goes on with what the reset has freed. A failed operation, whose
traceback holds its cursor in a cycle, is all that it takes (seen: SIGSEGV in `executemany`).
"""

import gc
import threading

_EVERY = 32
"""A full collection takes tens of milliseconds, as long as many trials: one for so many."""


class _HoldingOff:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._resumes = False
        self._asked = 0

    def hold_off(self) -> None:
        """Collect nothing by itself until as many calls of `let_go`."""
        with self._lock:
            if not self._holders:
                self._resumes = gc.isenabled()
                gc.disable()
            self._holders += 1

    def let_go(self) -> None:
        """Undo one `hold_off`; after the last, the collector works as it did before the first."""
        with self._lock:
            self._holders -= 1
            if not self._holders and self._resumes:
                gc.enable()

    def catch_up(self) -> None:
        """Collect what has piled up, every few calls; for a moment without any callback."""
        with self._lock:
            self._asked += 1
            due = self._holders > 0 and self._resumes and self._asked % _EVERY == 0
        if due:
            gc.collect()


COLLECTOR = _HoldingOff()
"""The process's one."""
