"""Meetings of processes: a file in which each process tells how far it has come."""

from __future__ import annotations

import mmap
import os
import struct
import time
from pathlib import Path
from typing import Self

from saverproof.families.concurrency.callers.schedules import could_run, is_zombie

STEPS = 24
"""How many database calls all processes make side by side."""

_WAIT_S = 0.05
_LONGEST_S = 1.0
_NAP_S = 0.0005
_WAITS_FOR_ANOTHER_S = 30.0
_FIRST_CALL_OVER = 3
_DONE = 1 << 30
_CELL = struct.Struct("<qq")
"""A cell of the file: the number of a process's calls, and the id of the process."""


class Meeting:
    """A file in which processes tell one another how far they have come. Each process has a cell in
    the file, and all of them map it.
    """

    def __init__(self, file: Path, number: int, racers: int) -> None:
        self._file = file
        self._own = number * _CELL.size
        self._others = [n * _CELL.size for n in range(racers) if n != number]
        self._steps = 0
        self.met = False
        """True if another process was in its first calls at the same time, and no lock kept the two
        apart.
        """
        self._cells: mmap.mmap

    @staticmethod
    def prepare(file: Path, racers: int) -> None:
        """Make the file for so many processes."""
        file.write_bytes(bytes(racers * _CELL.size))

    @staticmethod
    def have_all_told(file: Path, racers: int) -> bool:
        """Return whether every process has told how far it is."""
        data = file.read_bytes()
        return all(_CELL.unpack_from(data, n * _CELL.size)[0] for n in range(racers))

    def __enter__(self) -> Self:
        with self._file.open("r+b") as file:
            self._cells = mmap.mmap(file.fileno(), 0)
        return self

    def __exit__(self, *exception: object) -> None:
        self.tell(_DONE)

    def tell(self, steps: int) -> None:
        """Tell the others that this process has come so far."""
        self._steps = steps
        _CELL.pack_into(self._cells, self._own, steps, os.getpid())

    def of(self, number: int) -> int:
        """Return how far another process has come. If it has ended, the number is very large."""
        steps: int = _CELL.unpack_from(self._cells, number * _CELL.size)[0]
        return steps

    def process(self, number: int) -> int:
        """Return the id of another process; 0 until that process has told how far it has come."""
        process: int = _CELL.unpack_from(self._cells, number * _CELL.size)[1]
        return process

    def has_died(self, number: int) -> bool:
        """Return whether another process has ended without saying so. A process counts as running
        if it has told nothing yet, or if the system says nothing about it.
        """
        process = self.process(number)
        if not process:
            return False
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        # It is a zombie until the process that started it asks how it ended.
        return is_zombie(process)

    def await_other(self, number: int, steps: int) -> None:
        """Wait until another process has come as far as ``steps``, or until a long time has
        passed.
        """
        deadline = time.monotonic() + _WAITS_FOR_ANOTHER_S
        while self.of(number) < steps and time.monotonic() < deadline:
            time.sleep(_NAP_S)

    def await_all(self, steps: int) -> None:
        """Tell the others that this process has come as far as ``steps``, and wait until all of
        them have.
        """
        self.tell(steps)
        for number in (at // _CELL.size for at in self._others):
            self.await_other(number, steps)

    def step(self) -> None:
        """Wait with the next call until all other processes have come as far, unless something such
        as a lock stops them.
        """
        if self._steps >= STEPS:
            return
        self.tell(self._steps + 1)
        if self._steps == _FIRST_CALL_OVER:
            cells = [_CELL.unpack_from(self._cells, at)[0] for at in self._others]
            self.met = any(1 < steps <= _FIRST_CALL_OVER + 1 for steps in cells)
        began = time.perf_counter()
        while behind := self._behind():
            time.sleep(_NAP_S)
            waited = time.perf_counter() - began
            if waited > _LONGEST_S or (waited > _WAIT_S and not any(map(could_run, behind))):
                return

    def _behind(self) -> list[int]:
        """Return the processes that have not come as far."""
        cells = [_CELL.unpack_from(self._cells, at) for at in self._others]
        return [process for steps, process in cells if steps < self._steps]
