"""The judge's sign of life: a counter in memory that it shares with the pytest process.

``beat`` is called before every call of a saver, so it is kept as cheap as possible. Without a judge
process it writes to a list that nobody reads.
"""

import mmap
import os
import tempfile
import threading
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager

_BEATS, _STEP, _ANSWERED = 0, 1, 2
_SIZE = 24
"""Bytes of the shared memory: three cells of eight."""
_BEAT_S = 1.0
"""Seconds between two signs of life: far less than a usual watchdog's (10 s)."""

_cells: "MutableSequence[int] | memoryview[int]" = [0, 0, 0]


def beat(step_number: int) -> None:
    """Report that the saver is about to be called for this step of the current program."""
    cells = _cells
    cells[_STEP] = step_number
    cells[_ANSWERED] = 0
    cells[_BEATS] += 1


def answered() -> None:
    """Report that the saver's call is over: from now on, a silence is the kit's fault."""
    _cells[_ANSWERED] = 1


@contextmanager
def beating() -> Iterator[None]:
    """Give a sign of life each second within a block, while this process waits for others.

    Those others must be watched for hangs by other means.
    """
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(_BEAT_S):
            beat(0)

    thread = threading.Thread(target=go_on, name="saverproof-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Heartbeat:
    """The shared memory, which the pytest process makes and hands to the judge as a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._map = mmap.mmap(descriptor, _SIZE)
        self._cells: memoryview[int] = memoryview(self._map).cast("Q")

    @classmethod
    def create(cls) -> "tuple[Heartbeat, int]":
        """Return a new heartbeat and the descriptor to hand over, which the caller closes."""
        descriptor = _nameless_file()
        os.ftruncate(descriptor, _SIZE)
        return cls(descriptor), descriptor

    def read(self) -> tuple[int, int]:
        """Return the number of beats so far, and the step that the last one named."""
        return self._cells[_BEATS], self._cells[_STEP]

    @property
    def answered(self) -> bool:
        """True if the last call of the saver is known to be over."""
        return self._cells[_ANSWERED] == 1

    def install(self) -> None:
        """Let ``beat`` write to this memory. The judge calls this."""
        global _cells
        _cells = self._cells

    def close(self) -> None:
        """Release the memory."""
        self._cells.release()
        self._map.close()


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("saverproof-heartbeat")
    descriptor, path = tempfile.mkstemp(prefix="saverproof-heartbeat-")
    os.unlink(path)
    return descriptor
