"""How a process that is about to be killed tells what it has done: bytes in shared memory.

What is stored there is seen by others whatever becomes of the process, and storing it is no
system call that a kill could fall into.
"""

import itertools
import mmap
import os
import signal
import struct
import time
from dataclasses import dataclass

CAPACITY = 1 << 14
"""Operations are numbered from 0 to below this."""
WRITERS = 8
"""The processes that one trial may have."""

_NUMBER = struct.Struct("<Q")
# A slot: places reached, when the body began (monotonic ns), whether alone, then the marks.
_BEGAN_AT = 8
_ALONE_AT = 16
_MARKS_AT = 64
_SLOT = _MARKS_AT + CAPACITY

MEMORY_SIZE = WRITERS * _SLOT

_STARTED, _ACKNOWLEDGED = 1, 2


class Acks:
    """Handed to a trial's body, to mark its progress with."""

    def __init__(self, memory: mmap.mmap, slot: int, place: int | None) -> None:
        self._memory = memory
        self._base = slot * _SLOT
        self._places = itertools.count(1)
        self.place = place
        """The place at which ``reached`` kills, counted from 1, or None."""

    def started(self, operation: int) -> None:
        """Mark that ``operation`` is about to be called."""
        self._memory[self._address(operation)] = _STARTED

    def acknowledged(self, operation: int) -> None:
        """Mark that ``operation`` has returned."""
        self._memory[self._address(operation)] = _ACKNOWLEDGED

    def reached(self, *_: object) -> None:
        """Count one place, and die by SIGKILL if it is the planned one.

        Takes whatever it is given, so as to serve as a callback of statements and of I/O.
        """
        if self.counted():
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(self) -> bool:
        """Count one place, and say whether it is the planned one, where another process kills."""
        number = next(self._places)
        _NUMBER.pack_into(self._memory, self._base, number)
        return number == self.place

    def alone(self) -> bool:
        """Whether every other process of this trial has ended."""
        return self._memory[self._base + _ALONE_AT] != 0

    def begin(self) -> None:
        """Mark that the body begins; the harness calls this."""
        _NUMBER.pack_into(self._memory, self._base + _BEGAN_AT, time.monotonic_ns())

    def _address(self, operation: int) -> int:
        if not 0 <= operation < CAPACITY:
            raise ValueError(f"operations are numbered 0 to {CAPACITY - 1}, got {operation}")
        return self._base + _MARKS_AT + operation


@dataclass(frozen=True, slots=True)
class SlotContents:
    """What a process left in its slot."""

    places: int
    started: tuple[int, ...]
    acknowledged: tuple[int, ...]


def clear(memory: mmap.mmap, slot: int) -> None:
    """Empty a slot for the next process."""
    memory[slot * _SLOT : (slot + 1) * _SLOT] = bytes(_SLOT)


def read_marks(memory: mmap.mmap, slot: int) -> SlotContents:
    """What the process with this slot has marked."""
    base = slot * _SLOT
    (places,) = _NUMBER.unpack_from(memory, base)
    marks = memory[base + _MARKS_AT : base + _SLOT].rstrip(b"\0")
    return SlotContents(
        places,
        tuple(number for number, mark in enumerate(marks) if mark),
        tuple(number for number, mark in enumerate(marks) if mark == _ACKNOWLEDGED),
    )


def began_ns(memory: mmap.mmap, slot: int) -> int:
    """When the body began, on the monotonic clock; 0 if it has not."""
    (began,) = _NUMBER.unpack_from(memory, slot * _SLOT + _BEGAN_AT)
    return int(began)


def set_alone(memory: mmap.mmap, slot: int) -> None:
    """Tell the process with this slot that all others have ended."""
    memory[slot * _SLOT + _ALONE_AT] = 1
