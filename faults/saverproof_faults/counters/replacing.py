"""Put an interceptor in place of the one that an injector has entered."""

from collections.abc import Iterator
from contextlib import contextmanager

from saverproof_faults.interceptor import INTERCEPTORS, Interceptor


@contextmanager
def in_place_of_the_usual(interceptor: Interceptor) -> Iterator[None]:
    """Let all proxies use this interceptor within a block."""
    before = INTERCEPTORS.current
    INTERCEPTORS.current = interceptor
    try:
        yield
    finally:
        INTERCEPTORS.current = before
