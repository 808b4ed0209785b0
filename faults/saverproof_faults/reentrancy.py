"""What this thread is doing, as the hooks inside the engine need to know it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReentrancyFlags(threading.local):
    """Depths per thread: zero means no."""

    hidden = 0
    """Inside the fault layer's own SQL, which is neither counted nor failed."""
    inside = 0
    """Inside a call that passed an interceptor: what the engine runs now, the proxies have seen."""
    opening = 0
    """Inside an intercepted ``connect``: a connection opened now is a proxied one."""
    timeout_ms = 5000
    """The busy timeout that the connection being opened was asked for."""


FLAGS = ReentrancyFlags()


@contextmanager
def hidden() -> Iterator[None]:
    """What this thread does to databases meanwhile is the fault layer's own business."""
    FLAGS.hidden += 1
    try:
        yield
    finally:
        FLAGS.hidden -= 1
