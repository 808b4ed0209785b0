"""Flags by which the hooks inside SQLite know what the current thread is doing."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReentrancyFlags(threading.local):
    """Flags of one thread, each as a depth: zero means no."""

    hidden = 0
    """Depth inside the fault layer's own SQL, which is neither counted nor failed."""
    inside = 0
    """Depth inside a call that passed an interceptor: the proxies have seen what the engine runs
    now.
    """
    opening = 0
    """Depth inside an intercepted ``connect``: a connection that opens now is proxied."""
    timeout_ms = 5000
    """Busy timeout that was asked for the connection which is being opened; 5000 is sqlite3's own.
    """


FLAGS = ReentrancyFlags()


@contextmanager
def hidden() -> Iterator[None]:
    """Neither count nor fail what this thread does to databases within a block."""
    FLAGS.hidden += 1
    try:
        yield
    finally:
        FLAGS.hidden -= 1
