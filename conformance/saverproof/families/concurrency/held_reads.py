"""What runs in the process in which a read is held at one of its places while another saver goes on
with what it reads.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from saverproof.families.concurrency.calling import Caller
from saverproof.families.concurrency.child import Scene, operations_in
from saverproof.families.concurrency.holding import Holding, Place, Places, Probe
from saverproof.families.concurrency.records import Operation, TimedCall
from saverproof.families.concurrency.schedules import Schedule, folders_of, lines_in
from saverproof.programs.steps.codec import decode, encode
from saverproof_faults.kill import Acks

READER, WRITER = 0, 1
_MOST_BLOCKED = 6
"""Places at which a change waits for the read, and the read for nothing: each takes a while."""


@dataclass(slots=True)
class _Found:
    """Notes the places of a read, and holds it at none."""

    places: list[Place] = field(default_factory=list)

    def at(self, place: Place) -> None:
        self.places.append(place)

    async def await_at(self, place: Place) -> None:
        self.places.append(place)


@dataclass(slots=True)
class _HeldReads:
    """The reads of one saver: in a thread of their own, or on its event loop."""

    scene: Scene
    caller: Caller
    pool: concurrent.futures.Executor
    places: Places = field(default_factory=Places)
    _tracer: Any = None

    @classmethod
    @contextmanager
    def of(cls, scene: Scene, saver: Any) -> Iterator[_HeldReads]:
        with concurrent.futures.ThreadPoolExecutor(1, "reader") as pool:
            reads = cls(scene, scene.caller(saver, READER), pool)
            reads._tracer = lines_in(folders_of(saver), reads._at_line)
            if scene.api == "async":
                # Any of the threads that the loop starts may be the one in which a read runs.
                threading.settrace(reads._tracer)
            yield reads

    def begin(self, read: Operation, doing: Probe) -> concurrent.futures.Future[None]:
        """Begin a read; what it was answered is the last event of the caller."""
        self.places.begin(doing)

        def over() -> None:
            self.places.doing = None
            if isinstance(doing, Holding):
                doing.come.set()

        def make() -> None:
            sys.settrace(self._tracer)
            try:
                self.caller.call(read)
            finally:
                sys.settrace(None)
                over()

        async def await_it() -> None:
            try:
                await self.places.awaited(self.caller.await_call(read))
            finally:
                over()

        if self.scene.api == "sync":
            return self.pool.submit(make)
        return asyncio.run_coroutine_threadsafe(await_it(), self.scene.loop.loop)

    def _at_line(self, frame: FrameType) -> None:
        doing = self.places.doing
        if doing is None:
            return
        if place := self.places.visited(frame.f_code.co_filename, frame.f_lineno):
            doing.at(place)

    def read(self, read: Operation, doing: Probe | None = None) -> TimedCall:
        """Read undisturbed."""
        self.begin(read, doing or Holding(None)).result()
        return self.caller.events[-1]


def read_held(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Tell what a read shows that is alone before and after each step of a change, and what it
    shows with the whole change made while it is held at each of its places. ``left`` counts the
    places that were not tried because the change had waited for the read too often.
    """
    scene = Scene({**arguments, "schedule": encode(Schedule(""))})
    before, change, ends = (operations_in(arguments[part]) for part in ("before", "change", "ends"))
    (read,) = operations_in([arguments["read"]])
    told: dict[str, Any] = {"alone": [], "held": [], "places": 0, "left": 0}

    def play() -> None:
        with scene.saver() as own, scene.saver() as other, _HeldReads.of(scene, own) as reads:

            def write(made: Operation) -> TimedCall:
                scene.alone(other, WRITER, [made])
                return scene.callers.pop().events[-1]

            def prepare() -> list[TimedCall]:
                for made in ends:
                    write(made)
                return [write(made) for made in before]

            prepare()
            found = _Found()
            alone = [reads.read(read, found)]
            for made in change:
                write(made)
                alone.append(reads.read(read))
            told["alone"] = encode(alone)
            told["places"] = len(found.places)
            blocked = 0
            chosen = _spread(found.places, arguments["most"])
            for number, place in enumerate(chosen, 1):
                events = prepare()
                holding = Holding(place)
                made_read = reads.begin(read, holding)
                holding.come.wait()
                events += [write(made) for made in change]
                holding.let_go.set()
                made_read.result()
                blocked += not holding.overtaken
                if holding.overtaken:
                    shown = [*events, reads.caller.events[-1]]
                    told["held"].append([place.describe(), encode(shown)])
                if blocked >= _MOST_BLOCKED:
                    told["left"] = len(chosen) - number
                    return

    return {**scene.played(play), **told}


def _spread(places: list[Place], most: int) -> list[Place]:
    """Up to ``most`` of them, evenly."""
    if len(places) <= most:
        return places
    return [places[n * len(places) // most] for n in range(most)]


def decoded(events: Any) -> list[TimedCall]:
    """Events as this process tells them."""
    return [decode(TimedCall, one) for one in events]
