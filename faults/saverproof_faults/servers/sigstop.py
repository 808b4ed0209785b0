"""Stop all processes of a server by SIGSTOP, and let them go on later."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_CONNECTIONS = Path("/proc/net/tcp")
_LEFT_BY_ITS_CLIENT = "08"
_AT_WORK = frozenset("RD")
"""The states of a thread, as Linux names them, that end by themselves."""
_PAUSE_S = 0.003
"""Seconds between two looks at a server that catches up."""


def possible() -> bool:
    """Return whether this system shows when a server has caught up."""
    return _CONNECTIONS.exists()


def freeze(process: int) -> None:
    """Stop a process and all its children."""
    root = psutil.Process(process)
    # A stopped process makes no more children.
    root.suspend()
    for child in root.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.suspend()


def thaw(process: int) -> None:
    """Let a process and all its children go on."""
    for one in _family(process):
        with suppress(psutil.NoSuchProcess):
            one.resume()


def wait_until_caught_up(process: int, port: int, patience_s: float) -> bool:
    """Wait until a server has read all it was sent, has closed what its clients closed, and rests.

    The result is False if it has not done so after ``patience_s`` seconds.
    """
    deadline = time.monotonic() + patience_s
    while _has_unread(port) or any(map(_at_work, _family(process))):
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_S)
    return True


def _family(process: int) -> list[psutil.Process]:
    root = psutil.Process(process)
    return [root, *root.children(recursive=True)]


def _has_unread(port: int) -> bool:
    """Return whether bytes, or the end of a connection, wait for the server at a port."""
    for line in _CONNECTIONS.read_text().splitlines()[1:]:
        _, local, _, state, queues, *_ = line.split()
        if int(local.rpartition(":")[2], 16) == port:
            unread = int(queues.rpartition(":")[2], 16)
            if unread or state == _LEFT_BY_ITS_CLIENT:
                return True
    return False


def _at_work(process: psutil.Process) -> bool:
    return not _AT_WORK.isdisjoint(_states(process.pid))


def _states(process: int) -> Iterator[str]:
    for stat in Path(f"/proc/{process}/task").glob("*/stat"):
        with suppress(OSError):
            # The name that stands before the state is in brackets, and may contain anything.
            yield stat.read_text(errors="replace").rpartition(")")[2].split()[0]
