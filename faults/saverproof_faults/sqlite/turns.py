"""Lets one thread at a time into a connection while hooks of this package are inside SQLite.

SQLite itself makes the threads of a connection wait for each other. But where ``sqlite3`` binds a
parameter or reads a column, it waits for SQLite while it holds the interpreter's lock. A thread
inside SQLite that has come to one of the hooks, which are Python, waits for that lock. So a program
whose threads share a connection would hang, and only under this package.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from saverproof_faults.interceptor import INTERCEPTORS

Result = TypeVar("Result")


def in_turn(
    turn: AbstractContextManager[object],
    call: Callable[..., Result],
    /,
    *given: Any,
    **options: Any,
) -> Result:
    """Make a call into SQLite. If hooks may be inside SQLite, wait until no other thread is inside
    the same connection.
    """
    try:
        if INTERCEPTORS.current is None or not INTERCEPTORS.current.in_turn:
            return call(*given, **options)
        with turn:
            return call(*given, **options)
    finally:
        # A traceback must not keep the program's cursor alive: see ``proxy.InterceptedCursor``.
        del call, given, options
