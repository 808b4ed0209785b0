"""Waiting for what other threads and processes do."""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

PATIENCE_S = 60.0


def eventually(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        threading.Event().wait(0.02)
    return True


def left_of(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Those that have not ended, be they buried by then or not: in a container nobody may do it."""
    left = []
    for one in processes:
        with suppress(psutil.NoSuchProcess):
            if one.is_running() and one.status() != psutil.STATUS_ZOMBIE:
                left.append(one)
    return left
