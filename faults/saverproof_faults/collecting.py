"""Python's garbage collector, held off while SQLite calls back into Python.

A cursor of Python's ``sqlite3`` that is collected resets its statement, which later cursors share
through the connection's cache. Collected within a callback, that may be the statement which is
being executed: SQLite then goes on with what the reset has freed. A failed operation, whose
traceback holds its cursor in a cycle, is all that it takes (seen: SIGSEGV in ``executemany``).

    def callback(handle):
        hold_off()
        with HELD_OFF:
            ...
"""

import gc
import threading


class _HeldOff:
    """The block after ``hold_off``, at whose end the collector is let go again."""

    def __init__(self) -> None:
        # A collection that is under way may close a connection, and come here once more.
        self._lock = threading.RLock()
        self._inside = 0
        self._resumes = False

    def begin(self, enabled: bool) -> None:
        """Count one more, and whether it found the collector at work."""
        with self._lock:
            # Again, as another thread may just have let it go.
            self._resumes |= enabled or gc.isenabled()
            gc.disable()
            self._inside += 1

    def __enter__(self) -> None:
        """``hold_off`` has done it."""

    def __exit__(self, *exc_info: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._resumes and not self._inside:
                self._resumes = False
                gc.enable()


HELD_OFF = _HeldOff()


def hold_off() -> None:
    """Collect nothing, in any thread, until the block of ``HELD_OFF`` that follows has ended.

    To be called first of all, in a function without ``*arguments``, without variables that a lambda
    or an inner function takes over, and before any ``with``: their tuples, cells and methods are
    made by the allocator that sets collections off.
    """
    enabled = gc.isenabled()
    gc.disable()
    HELD_OFF.begin(enabled)
