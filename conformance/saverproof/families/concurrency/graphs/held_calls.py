"""Makes calls on whole threads, and holds each at one of its places while other calls go on."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.schedules import UPKEEP
from saverproof.families.concurrency.graphs.graph_upkeep import Call
from saverproof.families.concurrency.held.holding import (
    Holding,
    HoldPoint,
    HoldPoints,
    PlaceProbe,
    Probe,
    Probing,
    chosen,
)
from saverproof.savers.targets.calling import Api, api_of

Write = tuple[Any, ...]
"""The name of a method and its arguments."""
Made = concurrent.futures.Future[bool]
"""A call that was begun. The future's result says whether the call returned."""


class Held(Protocol):
    """A call that is held at a place, or is over."""

    @property
    def overtaken(self) -> bool:
        """True if all calls beside this one were over before it went on."""

    def let_go(self) -> bool:
        """Let the call go on and wait for its end. Return whether it returned."""


class UpkeepCalls(Protocol):
    """Makes calls on whole threads beside graphs. ``raised`` lists what the calls raised."""

    raised: list[str]

    def hold(self, call: Call, place: HoldPoint | None) -> Held:
        """Begin a call, and wait until it is held at the place, or is over."""

    def free_places(self, call: Call, write: Write, most: int) -> list[HoldPoint]:
        """Return places of the call at which a write is answered while the call is held."""


@dataclass(slots=True)
class HeldHere:
    """A call in this process."""

    _holding: Holding
    _made: Made

    @property
    def overtaken(self) -> bool:
        """True if all calls beside this one were over before it went on."""
        return self._holding.overtaken

    def let_go(self) -> bool:
        """Let the call go on and wait for its end. Return whether it returned."""
        self._holding.let_go.set()
        return self._made.result()


@dataclass(slots=True)
class HeldCalls:
    """Makes calls of one saver, one at a time. ``raised`` lists what the calls raised."""

    scene: ScenePart
    saver: Any
    raised: list[str] = field(default_factory=list)
    places: HoldPoints = field(default_factory=HoldPoints)
    api: Api = field(init=False)
    _pool: concurrent.futures.ThreadPoolExecutor = field(init=False)
    _tracer: Any = None

    @classmethod
    @contextmanager
    def of(cls, scene: ScenePart, saver: Any) -> Iterator[Self]:
        """Open what the calls of this saver run on, until the block ends."""
        calls = cls(scene, saver)
        calls.api = api_of(scene.api, scene.loop)
        calls._tracer = calls.places.tracer(saver)
        if scene.api == "async":
            # Any of the threads that the loop starts may be the one in which a call runs.
            threading.settrace(calls._tracer)
        calls._pool = concurrent.futures.ThreadPoolExecutor(2, "upkeep")
        with calls._pool:
            yield calls

    def begin(self, call: Call, doing: Probe) -> Made:
        """Begin a call. If it raises, that is recorded and not judged: the saver may want to be
        called again.
        """
        self.places.begin(doing)
        (name, *given), named = call

        def over() -> None:
            self.places.doing = None
            if isinstance(doing, Holding):
                doing.come.set()

        def make() -> bool:
            UPKEEP.set(True)
            sys.settrace(self._tracer)
            try:
                self.api.call(self.saver, name, *given, **named)
            except Exception as error:  # noqa: BLE001 - a saver may raise anything
                self._note(name, error)
                return False
            finally:
                sys.settrace(None)
                UPKEEP.set(False)
                over()
            return True

        async def await_it() -> bool:
            UPKEEP.set(True)
            try:
                await self.places.awaited(self.api.ask(self.saver, name, *given, **named))
            except Exception as error:  # noqa: BLE001 - a saver may raise anything
                self._note(name, error)
                return False
            finally:
                over()
            return True

        if self.scene.api == "sync":
            return self._pool.submit(make)
        return asyncio.run_coroutine_threadsafe(await_it(), self.scene.loop.loop)

    def hold(self, call: Call, place: HoldPoint | None, process: int | None = None) -> HeldHere:
        """Begin a call, and wait until it is held at the place, or is over. ``process`` is the id
        of the process that makes other calls meanwhile, if it is not this one.
        """
        holding = Holding(place, process)
        made = self.begin(call, holding)
        holding.come.wait()
        return HeldHere(holding, made)

    def free_places(self, call: Call, write: Write, most: int) -> list[HoldPoint]:
        """Return places of the call at which a write is answered while the call is held."""
        return self.probed(call, Probing(lambda: self.begun(write)), most)

    def probed(self, call: Call, probing: PlaceProbe, most: int) -> list[HoldPoint]:
        """Run a call once with this probe, and return the places at which to hold it."""
        concurrent.futures.wait([self.begin(call, probing)])
        probing.end()
        return chosen(probing.free, most)

    def begun(self, write: Write) -> concurrent.futures.Future[Any]:
        """Begin a write in a thread of its own."""

        async def await_write() -> None:
            # It is begun from within the call, whose context it has.
            UPKEEP.set(False)
            await self.api.ask(self.saver, *write)

        if self.scene.api == "sync":
            return self._pool.submit(self.api.call, self.saver, *write)
        return asyncio.run_coroutine_threadsafe(await_write(), self.scene.loop.loop)

    def _note(self, name: str, error: Exception) -> None:
        self.raised.append(f"{name}: {error!r}"[:120])
