"""What runs in the processes that race for a new store."""

from __future__ import annotations

import mmap
import os
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Self

from saverproof.errors import OpeningError, describe
from saverproof.families.concurrency.child import Scene, operations_in
from saverproof.families.concurrency.schedules import could_run, pause_around_calls
from saverproof.families.concurrency.watching import watch
from saverproof.steps.codec import encode
from saverproof_faults.kill import Acks
from saverproof_faults.sqlite import raw

PATIENCE_S = 11.0
STEPS = 24
"""The calls of the database that all processes make side by side."""

_WAIT_S = 0.05
_LONGEST_S = 1.0
_NAP_S = 0.0005
_WAITS_FOR_ANOTHER_S = 30.0
_HOLD_S = 0.4
_LONGEST_HOLD_S = 4.0
_LONGEST_OWN_S = 5.0
"""Seconds for which what the target does by itself is done again."""
_FIRST_CALL_OVER = 3
_DONE = 1 << 30
_CELL = struct.Struct("<qq")
"""The number of a process's calls, and the process."""


def race(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Open a store that is not there yet, while others do, and use it at once.

    Gives "events"; "opening", what opening it raised, or None; "met", whether it made its first
    calls of the database while others made theirs; "standstill".
    """
    scene = Scene(arguments)
    seen: dict[str, Any] = {"opening": None, "met": False}

    def guarded() -> None:
        number = arguments["caller"]
        meeting = Meeting(Path(arguments["meeting"]), number, arguments["racers"])
        with meeting:
            if arguments["side_by_side"]:
                pause_around_calls(meeting.step)
                meeting.step()
            else:
                meeting.tell(1)
            try:
                with _opened(scene) as saver:
                    scene.alone(saver, number, operations_in(arguments["callers"][number]))
            except Exception as error:  # noqa: BLE001 - a saver may raise anything; an answer
                seen["opening"] = describe(error)
            seen["met"] = meeting.met

    still = watch(guarded, scene.progress, scene.loop, PATIENCE_S)
    events = [encode(event) for caller in scene.callers for event in caller.events]
    return seen | {"events": events, "standstill": encode(still)}


@contextmanager
def _opened(scene: Scene) -> Iterator[Any]:
    """A saver on the store. What the target does by itself, which is none of the saver's doing, is
    done again where another process was in the way.
    """
    began = time.perf_counter()
    with ExitStack() as stack:
        while True:
            try:
                saver = stack.enter_context(scene.saver_at_once())
                break
            except OpeningError as error:
                late = time.perf_counter() - began > _LONGEST_OWN_S
                if late or not scene.is_targets_own(error):
                    raise
                time.sleep(_NAP_S)
        yield saver


class Meeting:
    """Where processes tell one another how far they are: a cell each, in a file that all map."""

    def __init__(self, file: Path, number: int, racers: int) -> None:
        self._file = file
        self._own = number * _CELL.size
        self._others = [n * _CELL.size for n in range(racers) if n != number]
        self._steps = 0
        self.met = False
        """Whether another process was in its first calls too, and no gate kept them apart."""
        self._cells: mmap.mmap

    @staticmethod
    def prepare(file: Path, racers: int) -> None:
        """Make the file."""
        file.write_bytes(bytes(racers * _CELL.size))

    def __enter__(self) -> Self:
        with self._file.open("r+b") as file:
            self._cells = mmap.mmap(file.fileno(), 0)
        return self

    def __exit__(self, *exception: object) -> None:
        self.tell(_DONE)

    def tell(self, steps: int) -> None:
        """Be so far."""
        self._steps = steps
        _CELL.pack_into(self._cells, self._own, steps, os.getpid())

    def of(self, number: int) -> int:
        """How far another process is; very far if it has ended."""
        steps: int = _CELL.unpack_from(self._cells, number * _CELL.size)[0]
        return steps

    def process(self, number: int) -> int:
        """The id of another process that has told something."""
        process: int = _CELL.unpack_from(self._cells, number * _CELL.size)[1]
        return process

    def await_other(self, number: int, steps: int) -> None:
        """Wait until another process is so far, or for a long time."""
        deadline = time.monotonic() + _WAITS_FOR_ANOTHER_S
        while self.of(number) < steps and time.monotonic() < deadline:
            time.sleep(_NAP_S)

    def step(self) -> None:
        """Make the next call not before all the others have come as far, unless they are stopped,
        by a lock say.
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
        """The processes that have not come as far."""
        cells = [_CELL.unpack_from(self._cells, at) for at in self._others]
        return [process for steps, process in cells if steps < self._steps]


@contextmanager
def held(file: Path, meeting: Path, racers: int) -> Iterator[None]:
    """Hold an SQLite file that is not there yet, as a process does which writes to it before it is
    set up, until all racers are under way, and a moment longer.
    """
    ready = threading.Event()
    arguments = (file, meeting, racers, ready)
    thread = threading.Thread(target=_hold, args=arguments, name="saverproof-hold", daemon=True)
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        thread.join()


def _hold(file: Path, meeting: Path, racers: int, ready: threading.Event) -> None:
    with ExitStack() as stack:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            connection = stack.enter_context(closing(raw.connect(file, isolation_level=None)))
            connection.execute("BEGIN IMMEDIATE")
        finally:
            ready.set()
        deadline = time.monotonic() + _LONGEST_HOLD_S
        while time.monotonic() < deadline:
            time.sleep(_NAP_S)
            data = meeting.read_bytes()
            if all(_CELL.unpack_from(data, n * _CELL.size)[0] for n in range(racers)):
                break
        time.sleep(_HOLD_S)
        connection.execute("ROLLBACK")
