"""Python's garbage collector, held off while SQLite calls back into Python.

A cursor of Python's `sqlite3` that is collected resets its statement, which later cursors share
through the connection's cache. Collected within a callback, that may be the statement which is
being executed: SQLite then goes on with what the reset has freed. A failed operation, whose
traceback holds its cursor in a cycle, is all that it takes (seen: SIGSEGV in `executemany`).
"""

import gc
import threading
from types import TracebackType


class _Uncollected:
    def __init__(self) -> None:
        # A collection that is under way may close a connection, and come here once more.
        self._lock = threading.RLock()
        self._inside = 0
        self._resumes = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._resumes = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._resumes:
                gc.enable()


UNCOLLECTED = _Uncollected()
"""A block in any number of threads, in which nothing is collected unless it is asked for.

To be entered first of all: even the tuple of a function's `*arguments` may set a collection off.
"""
