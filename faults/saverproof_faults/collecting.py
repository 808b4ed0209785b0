"""Hold off Python's garbage collector while SQLite calls back into Python.

When a cursor of Python's ``sqlite3`` is collected, it resets its statement, which later cursors of
the connection share through a cache. If that happens within a callback, the statement may be the
one that SQLite is executing, and SQLite goes on with memory that the reset has freed. A failed
operation is enough for this, because its traceback holds its cursor in a reference cycle (seen:
SIGSEGV in ``executemany``).

    def callback(handle):
        hold_off()
        with HELD_OFF:
            ...

Code that keeps the collector off for another reason must use this module as well: if two threads
each restored what they found, they would switch it on within each other's blocks.
"""

import gc
import threading


class _HeldOff:
    """The context manager that ends what ``hold_off`` began: the garbage collector is switched on
    again if it was on before.
    """

    def __init__(self) -> None:
        # Reentrant, since a collection that is under way may close a connection, whose callback
        # comes here.
        self._lock = threading.RLock()
        self._inside = 0
        self._resumes = False

    def begin(self, enabled: bool) -> None:
        """Count one more block; ``enabled`` says whether the collector was on before it."""
        with self._lock:
            # Ask again: another thread may have switched the collector on meanwhile.
            self._resumes |= enabled or gc.isenabled()
            gc.disable()
            self._inside += 1

    def __enter__(self) -> None:
        """Do nothing: ``hold_off`` has switched the collector off already."""

    def __exit__(self, *exc_info: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._resumes and not self._inside:
                self._resumes = False
                gc.enable()


HELD_OFF = _HeldOff()


def hold_off() -> None:
    """Switch the collector off until the end of the ``with HELD_OFF`` block that follows.

    It is off in all threads.

    Call this first in a callback, before any ``with``. The callback must not have ``*arguments``,
    nor variables that a lambda or an inner function uses: Python allocates tuples, cells and
    methods for those, and an allocation can start a collection.
    """
    enabled = gc.isenabled()
    gc.disable()
    HELD_OFF.begin(enabled)
