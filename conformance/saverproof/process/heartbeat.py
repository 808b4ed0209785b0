"""The judge's sign of life: a counter in memory shared with the pytest process.

``beat`` is called before every call of a saver, so it does next to nothing. Without a judge
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
_BEAT_S = 1.0

_cells: "MutableSequence[int] | memoryview[int]" = [0, 0, 0]


def beat(step_number: int) -> None:
    """Say that the saver is about to be called for step ``step_number`` of the current program."""
    cells = _cells
    cells[_STEP] = step_number
    cells[_ANSWERED] = 0
    cells[_BEATS] += 1


def answered() -> None:
    """Say that the saver's call is over: from here on, silence is the kit's own."""
    _cells[_ANSWERED] = 1


@contextmanager
def beating() -> Iterator[None]:
    """Signs of life while others work, who are themselves seen not to hang."""
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
    """The shared memory itself, made by the pytest process and handed to the judge as a file
    descriptor.
    """

    def __init__(self, descriptor: int) -> None:
        self._map = mmap.mmap(descriptor, _SIZE)
        self._cells: memoryview[int] = memoryview(self._map).cast("Q")

    @classmethod
    def create(cls) -> "tuple[Heartbeat, int]":
        """A new heartbeat and the descriptor to hand over; the caller closes the descriptor."""
        descriptor = _nameless_file()
        os.ftruncate(descriptor, _SIZE)
        return cls(descriptor), descriptor

    def read(self) -> tuple[int, int]:
        """The number of beats so far, and the step that the last one named."""
        return self._cells[_BEATS], self._cells[_STEP]

    @property
    def answered(self) -> bool:
        """Whether the last call of the saver is known to be over."""
        return self._cells[_ANSWERED] == 1

    def install(self) -> None:
        """Let ``beat`` write here, in the process that judges."""
        global _cells
        _cells = self._cells

    def close(self) -> None:
        """Give the memory back."""
        self._cells.release()
        self._map.close()


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("saverproof-heartbeat")
    descriptor, path = tempfile.mkstemp(prefix="saverproof-heartbeat-")
    os.unlink(path)
    return descriptor
