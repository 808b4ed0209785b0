"""Holds a call on a whole thread at one of its places until the calls beside it are over.

A place is a line of the saver's own code, or a turn of the event loop that the call awaits. A right
saver is right wherever a call is held, and however long: the verdict does not depend on time.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any, Protocol

from saverproof.families.concurrency.callers.schedules import (
    UPKEEP,
    could_run,
    folders_of,
    lines_in,
    runs_of,
)
from saverproof.process import stacks

_LONGEST_S = 0.5
"""How many seconds a call is held at most if the calls beside it wait for it: a step of a graph
takes less.
"""
_LATEST_S = 2.0
"""How many seconds a call is held at most if the calls beside it go on, as on a busy machine.
Databases wait for a lock longer than this.
"""
_GLANCES = 20
"""How many looks in a row must find the other calls waiting: between two calls, nothing runs for a
moment.
"""
_NAP_S = 0.001
_PRACTICE, MARGIN, _LEAST_S = 3, 4, 0.002
"""How many first writes are timed; how many times their mean time a later write takes at most if
nothing blocks it; the seconds that are added to that.
"""
MARGIN_ELSEWHERE = 20
"""How many times their mean time a write of another process takes at most if nothing blocks it.
Between two messages both processes may sleep and seem blocked: with 4, as for writes of this
process, a free place was once taken for blocked.
"""
_GLANCE_S = 0.0005
"""Seconds in which a write that was blocked moves, once nothing blocks it."""
_STILL = 3
"""How many glances in a row must find the writer waiting. A writer that was just let go may still
wait for the interpreter's lock, which the thread that looks holds. With a single glance, a free
place was taken for blocked in one of sixty runs on a busy machine.
"""
_VISITS = 2
"""How many visits of one line count as different places: a loop may visit a line without end."""

_AT_WORK = "RD"
"""The states of a thread that waits only for a processor, or for a disk."""

AWAIT = "await"


@dataclass(frozen=True, slots=True)
class HoldPoint:
    """A place: the ``time``-th visit of a line of a file, counted from 1. For a turn of the event
    loop, ``line`` is the turn's number.
    """

    file: str
    line: int
    time: int = 1

    def describe(self) -> str:
        """Return the place in a few words."""
        if self.file == AWAIT:
            return f"where it waits for the loop (the {self.line}. time)"
        return f"at line {self.line} of {os.path.basename(self.file)}"


class Probe(Protocol):
    """An action at each place that a call reaches."""

    def at(self, place: HoldPoint) -> None:
        """Act at a place in a thread's call."""

    async def await_at(self, place: HoldPoint) -> None:
        """Act at a place where a call on an event loop awaits."""


class PlaceProbe(Probe, Protocol):
    """A probe that finds the places of a call. ``free`` has each place, with whether a write was
    answered while the call stood there.
    """

    free: list[tuple[HoldPoint, bool]]

    def end(self) -> None:
        """Wait for the last write."""


class Probing:
    """Finds the places of a call at which a write to the same thread is answered while the call
    stands still.
    """

    def __init__(
        self,
        write: Callable[[], concurrent.futures.Future[Any]],
        margin: int = MARGIN,
        process: int | None = None,
    ) -> None:
        """Make a probe that begins ``write``. ``process`` is the id of the process that writes, if
        that is not this process.
        """
        self.free: list[tuple[HoldPoint, bool]] = []
        self._write = write
        self._process = process
        began = time.monotonic()
        for _ in range(_PRACTICE):
            concurrent.futures.wait([write()])
        self._patience_s = _LEAST_S + margin * (time.monotonic() - began) / _PRACTICE
        self._pending: concurrent.futures.Future[Any] | None = None
        self._blocked: dict[int, stacks.Stack] | None = None
        """The stacks of all threads when the write was seen to be blocked."""
        self._runs: dict[str, str] | None = None
        """How often each thread of the other process had run by then."""

    def at(self, place: HoldPoint) -> None:
        """Begin a write at this place, and stand still until it is answered, or for a moment."""
        if self._is_blocked():
            self.free.append((place, False))
            return
        self._pending = self._write()
        self.free.append((place, self._is_answered(self._pending)))

    def _is_blocked(self) -> bool:
        """Return whether a write that was begun at an earlier place has not been answered yet."""
        last = self._pending
        if last is None:
            return False
        if self._waits_elsewhere():
            return True
        for _ in range(_STILL):
            # A write in another process may be over before the glance, and its answer on the way.
            goes_on = self._process is not None and self._writer_goes_on()
            if concurrent.futures.wait([last], _GLANCE_S).done:
                return False
            if goes_on or self._writer_goes_on() or stacks.of_others() != self._blocked:
                return not self._is_answered(last)
        # As long as no thread has moved, or could, nothing has changed.
        return True

    def _waits_elsewhere(self) -> bool:
        """Return whether the other process has not moved since its write was seen to be blocked.

        If the lock had been released, the waiting thread would be ready to run at once. Without
        this test, each place within a lock would take as long as a slow write.
        """
        if self._process is None or self._runs is None:
            return False
        if could_run(self._process, but=self._process, states=_AT_WORK):
            return False
        return runs_of(self._process) == self._runs

    def _writer_goes_on(self) -> bool:
        return others_go_on(self._process)

    def _is_answered(self, write: concurrent.futures.Future[Any]) -> bool:
        until = time.monotonic() + _LONGEST_S
        answered = bool(concurrent.futures.wait([write], self._patience_s).done)
        still = 0
        while not answered and still < _STILL and time.monotonic() < until:
            # On a busy machine the write may only be late, which does not say that it is blocked.
            still = 0 if self._writer_goes_on() else still + 1
            answered = bool(concurrent.futures.wait([write], _GLANCE_S).done)
        self._see(answered=answered)
        return answered

    def _see(self, *, answered: bool) -> None:
        """Remember where all threads are if the write is blocked."""
        self._blocked = None if answered else stacks.of_others()
        self._runs = None if answered or self._process is None else runs_of(self._process)

    async def await_at(self, place: HoldPoint) -> None:
        """Do the same as :meth:`at` on an event loop."""
        if self._waits_elsewhere():
            self.free.append((place, False))
            return
        for _ in range(2 if self._pending else 1):
            if self._pending is None or self._pending.done():
                self._pending = self._write()
            waited_for, until = asyncio.wrap_future(self._pending), time.monotonic() + _LONGEST_S
            await asyncio.wait([waited_for], timeout=self._patience_s)
            still = 0
            while not waited_for.done() and still < _STILL and time.monotonic() < until:
                still = 0 if self._writer_goes_on() else still + 1
                await asyncio.wait([waited_for], timeout=_GLANCE_S)
        answered = self._pending is not None and self._pending.done()
        self._see(answered=answered)
        self.free.append((place, answered))

    def end(self) -> None:
        """Wait for the last write."""
        if self._pending is not None:
            concurrent.futures.wait([self._pending])


def others_go_on(process: int | None) -> bool:
    """Return whether some other thread, of this process or of ``process``, waits only for a
    processor or for a disk.
    """
    if process is not None and could_run(process, states=_AT_WORK):
        return True
    return could_run(os.getpid(), but=threading.get_native_id(), states=_AT_WORK)


class Holding:
    """A probe that stands still at a place, once, until ``let_go`` is set. Without a place it never
    stands still.

    ``come`` is set when the call has reached the place, or is over. ``process`` is the id of the
    process that makes calls meanwhile, if it is not this one.
    """

    def __init__(self, place: HoldPoint | None, process: int | None = None) -> None:
        self.place = place
        self._process = process
        self.come = threading.Event()
        self.let_go = threading.Event()
        self.overtaken = False
        """True if all calls beside this one were over before it went on."""

    def at(self, place: HoldPoint) -> None:
        """Stand still if this is the place."""
        if self._is_there(place):
            self.overtaken = self.let_go.wait(_LONGEST_S) or self._is_over_in_time()

    def _is_over_in_time(self) -> bool:
        """Wait for the end of the calls beside this one. Return False if they stand still or take
        too long.
        """
        until = time.monotonic() + _LATEST_S - _LONGEST_S
        idle = 0
        while idle < _GLANCES and time.monotonic() < until:
            if self.let_go.wait(_NAP_S):
                return True
            idle = 0 if others_go_on(self._process) else idle + 1
        return False

    async def await_at(self, place: HoldPoint) -> None:
        """Do the same as :meth:`at` on an event loop."""
        if self._is_there(place):
            until = time.monotonic() + _LONGEST_S
            while not self.let_go.is_set() and time.monotonic() < until:
                await asyncio.sleep(_NAP_S)
            self.overtaken = self.let_go.is_set()

    def _is_there(self, place: HoldPoint) -> bool:
        there = place == self.place and not self.come.is_set()
        if there:
            self.come.set()
        return there


@dataclass(slots=True)
class HoldPoints:
    """Acts at each place that a call on a whole thread reaches; one call is made at a time."""

    doing: Probe | None = None
    _visits: Counter[tuple[str, int]] = field(default_factory=Counter)

    def tracer(self, saver: Any) -> Any:
        """Return the trace function for the thread in which the call runs: it acts at the saver's
        own lines.
        """
        return lines_in(folders_of(saver), self._at_line)

    def begin(self, doing: Probe) -> None:
        """Begin to count the places of a new call."""
        self.doing = doing
        self._visits.clear()

    def awaited(self, call: Awaitable[Any]) -> Awaitable[Any]:
        """Return a coroutine that does the same as the call, with a place after each turn of the
        loop that it awaits.
        """
        return _Awaited(call, self)

    def _at_line(self, frame: FrameType) -> None:
        if self.doing is None or not UPKEEP.get() or _on_a_loop():
            return
        if place := self.visited(frame.f_code.co_filename, frame.f_lineno):
            self.doing.at(place)

    def visited(self, file: str, line: int) -> HoldPoint | None:
        """Return the place of this visit of a line; None if the line was visited too often."""
        self._visits[file, line] += 1
        time = self._visits[file, line]
        return HoldPoint(file, line, time) if time <= _VISITS else None


class _Awaited:
    def __init__(self, call: Awaitable[Any], places: HoldPoints) -> None:
        self._call = call
        self._places = places

    def __await__(self) -> Generator[Any, None, Any]:
        steps, turn = self._call.__await__(), 0
        go_on: Callable[[], Any] = partial(next, steps)
        while True:
            try:
                waited_for = go_on()
            except StopIteration as end:
                return end.value
            turn += 1
            try:
                yield waited_for
                if self._places.doing is not None:
                    yield from self._places.doing.await_at(HoldPoint(AWAIT, turn)).__await__()
                go_on = partial(next, steps)
            except BaseException as error:  # noqa: BLE001 - it is for the call to handle
                go_on = partial(steps.throw, error)


def _on_a_loop() -> bool:
    """Return whether this thread runs an event loop. If it stood still, nothing else on the loop
    could go on.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def chosen(looked: list[tuple[HoldPoint, bool]], most: int) -> list[HoldPoint]:
    """Return the places at which to hold a call.

    If others are answered at all places, these are up to ``most`` of them. Otherwise they are the
    last places of up to ``most`` stretches in which others are answered, since all places of a
    stretch have the same result.
    """
    stretches: list[list[HoldPoint]] = [[]]
    for place, free in looked:
        if free:
            stretches[-1].append(place)
        elif stretches[-1]:
            stretches.append([])
    found = [stretch for stretch in stretches if stretch]
    if all(free for _, free in looked):
        return _spread([place for place, _ in looked], most)
    return [stretch[-1] for stretch in _spread(found, most)]


def _spread(of: list[Any], most: int) -> list[Any]:
    """Return up to ``most`` of the items, spread evenly."""
    if most <= 0:
        return []
    return [of[n * len(of) // most] for n in range(most)] if len(of) > most else of
