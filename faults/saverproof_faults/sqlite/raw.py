"""Connections of the fault layer's own: never proxied, watched, counted or failed."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from saverproof_faults.reentrancy import hidden

connect = sqlite3.connect
"""The true ``sqlite3.connect``, kept from before anything is patched."""


def opened(path: str) -> sqlite3.Connection:
    """A connection to the file that never waits for a lock, begins nothing by itself, and may be
    used from any thread.
    """
    with hidden():
        return connect(path, timeout=0, isolation_level=None, check_same_thread=False)


@contextmanager
def connection(path: str) -> Iterator[sqlite3.Connection]:
    """Such a connection, closed at the end."""
    own = opened(path)
    try:
        yield own
    finally:
        own.close()
