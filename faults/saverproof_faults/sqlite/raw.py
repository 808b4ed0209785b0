"""Connections of the fault layer's own, which are never proxied, watched, counted or failed."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from saverproof_faults.reentrancy import hidden

connect = sqlite3.connect
"""The original ``sqlite3.connect``, saved before anything is patched."""


def opened(path: str) -> sqlite3.Connection:
    """Open a connection that never waits for a lock, and begins no transaction by itself.

    Any thread may use it.
    """
    with hidden():
        return connect(path, timeout=0, isolation_level=None, check_same_thread=False)


@contextmanager
def connection(path: str) -> Iterator[sqlite3.Connection]:
    """Open a connection, as ``opened`` does, for the length of a block."""
    own = opened(path)
    try:
        yield own
    finally:
        own.close()
