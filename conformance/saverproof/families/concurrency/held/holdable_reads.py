"""Makes the reads of one saver so that they can be held at one of their places."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from saverproof.families.concurrency.callers.answering import HERE
from saverproof.families.concurrency.callers.calling import Caller
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.records import Operation, TimedCall
from saverproof.families.concurrency.callers.schedules import folders_of, lines_in
from saverproof.families.concurrency.held.holding import Holding, HoldPoints, Probe

_READING = ContextVar("_READING", default=False)
"""True if a read is being made, here or for what runs here."""


@dataclass(slots=True)
class HoldableReads:
    """Makes the reads of one saver, in a thread of their own, or on its event loop."""

    scene: ScenePart
    caller: Caller
    pool: concurrent.futures.Executor
    is_part: Callable[[], bool]
    """True if what runs in the current thread is part of a read."""
    places: HoldPoints = field(default_factory=HoldPoints)
    _tracer: Any = None

    @classmethod
    @contextmanager
    def of(
        cls, scene: ScenePart, saver: Any, is_part: Callable[[], bool] = _READING.get
    ) -> Iterator[HoldableReads]:
        """Find places of a read in the thread that calls it, and on the loop that awaits it.
        Threads to which it hands work with its context, as ``asyncio.to_thread`` does, have places
        as well.
        """
        with concurrent.futures.ThreadPoolExecutor(1, "reader") as pool:
            reads = cls(scene, scene.caller(saver, HERE), pool, is_part)
            reads._tracer = lines_in(folders_of(saver), reads._at_line)
            if scene.api == "async":
                threading.settrace(reads._tracer)
                # Threads that the loop has started before are not traced.
                scene.loop.run(_with_new_threads())
            yield reads

    @classmethod
    @contextmanager
    def wherever_they_run(cls, scene: ScenePart, saver: Any) -> Iterator[HoldableReads]:
        """Find places of a read in all threads. Nothing but the read may run in this process."""
        with cls.of(scene, saver, lambda: True) as reads:
            # A sync call may run on the loop on which the saver was opened. That nobody goes on
            # there beside it is no harm: another process does.
            scene.loop.run(reads._traced_here())
            yield reads

    async def _traced_here(self) -> None:
        sys.settrace(self._tracer)

    def begin(self, read: Operation, doing: Probe) -> concurrent.futures.Future[None]:
        """Begin a read. Its answer is then in the last event of the caller."""
        self.places.begin(doing)

        def over() -> None:
            self.places.doing = None
            if isinstance(doing, Holding):
                doing.come.set()

        def make() -> None:
            _READING.set(True)
            sys.settrace(self._tracer)
            try:
                self.caller.call(read)
            finally:
                sys.settrace(None)
                over()

        async def await_it() -> None:
            _READING.set(True)
            try:
                await self.places.awaited(self.caller.await_call(read))
            finally:
                over()

        if self.scene.api == "sync":
            return self.pool.submit(make)
        return asyncio.run_coroutine_threadsafe(await_it(), self.scene.loop.loop)

    def _at_line(self, frame: FrameType) -> None:
        doing = self.places.doing
        if doing is None or not self.is_part():
            return
        if place := self.places.visited(frame.f_code.co_filename, frame.f_lineno):
            doing.at(place)

    def read(self, read: Operation, doing: Probe | None = None) -> TimedCall:
        """Make a read that is not held."""
        self.begin(read, doing or Holding(None)).result()
        return self.caller.events[-1]


async def _with_new_threads() -> None:
    asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor())
