"""Progress of a process that is about to be killed, kept in shared memory.

Bytes stored there stay visible to others when the process dies, and storing them is no system call
in the middle of which a kill could strike.
"""

import itertools
import mmap
import os
import signal
import struct
import time
from dataclasses import dataclass

CAPACITY = 1 << 14
"""How many operations a process can mark: they have numbers from 0 to below this, and a byte of
memory each.
"""
WRITERS = 8
"""The most processes that one trial may have. Each has a slot of its own in the memory."""

_NUMBER = struct.Struct("<Q")
# A slot holds: places reached, when the body began (monotonic ns), whether it is alone, the marks.
_BEGAN_AT = 8
_ALONE_AT = 16
_MARKS_AT = 64
_SLOT = _MARKS_AT + CAPACITY

MEMORY_SIZE = WRITERS * _SLOT

_STARTED, _ACKNOWLEDGED = 1, 2


class Acks:
    """The handle by which a trial's body marks its progress."""

    def __init__(self, memory: mmap.mmap, slot: int, place: int | None) -> None:
        self._memory = memory
        self._base = slot * _SLOT
        self._places = itertools.count(1)
        self.place = place
        """The place at which ``reached`` kills the process, counted from 1, or None."""

    def started(self, operation: int) -> None:
        """Mark that ``operation`` is about to be called."""
        self._memory[self._address(operation)] = _STARTED

    def acknowledged(self, operation: int) -> None:
        """Mark that ``operation`` has returned."""
        self._memory[self._address(operation)] = _ACKNOWLEDGED

    def reached(self, *_: object) -> None:
        """Count one place, and die by SIGKILL if it is the planned one.

        All arguments are ignored, so that this can be a callback of statements and of I/O.
        """
        if self.counted():
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(self) -> bool:
        """Count one place, and return whether it is the planned one.

        Another process then does the killing.
        """
        number = next(self._places)
        _NUMBER.pack_into(self._memory, self._base, number)
        return number == self.place

    def alone(self) -> bool:
        """Return whether all other processes of this trial have ended."""
        return self._memory[self._base + _ALONE_AT] != 0

    def begin(self) -> None:
        """Mark that the body begins. The harness calls this."""
        _NUMBER.pack_into(self._memory, self._base + _BEGAN_AT, time.monotonic_ns())

    def _address(self, operation: int) -> int:
        if not 0 <= operation < CAPACITY:
            raise ValueError(f"operations are numbered 0 to {CAPACITY - 1}, got {operation}")
        return self._base + _MARKS_AT + operation


@dataclass(frozen=True, slots=True)
class SlotContents:
    """The contents of one process's slot."""

    places: int
    started: tuple[int, ...]
    acknowledged: tuple[int, ...]


def clear(memory: mmap.mmap, slot: int) -> None:
    """Empty a slot for the next process."""
    memory[slot * _SLOT : (slot + 1) * _SLOT] = bytes(_SLOT)


def read_marks(memory: mmap.mmap, slot: int) -> SlotContents:
    """Return what the process with this slot has marked."""
    base = slot * _SLOT
    (places,) = _NUMBER.unpack_from(memory, base)
    marks = memory[base + _MARKS_AT : base + _SLOT].rstrip(b"\0")
    return SlotContents(
        places,
        tuple(number for number, mark in enumerate(marks) if mark),
        tuple(number for number, mark in enumerate(marks) if mark == _ACKNOWLEDGED),
    )


def began_ns(memory: mmap.mmap, slot: int) -> int:
    """Return when the body began, on the monotonic clock; 0 if it has not."""
    (began,) = _NUMBER.unpack_from(memory, slot * _SLOT + _BEGAN_AT)
    return int(began)


def set_alone(memory: mmap.mmap, slot: int) -> None:
    """Tell the process with this slot that all others have ended."""
    memory[slot * _SLOT + _ALONE_AT] = 1
