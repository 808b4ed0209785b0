"""Runs in a process in which callers of one saver make calls about the same two threads at once."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from saverproof.errors import describe
from saverproof.families.concurrency.callers.child import ScenePart, operations_in
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.programs.steps.codec import encode
from saverproof_faults.kill import Acks

CALLERS = 4
"""How many callers make calls at once, every second one the same.

Two tasks do not hang: each takes both locks of an event loop in one turn, unless a third one waits.
"""
_ROUNDS = 8
"""How often they do at most. Pauses between lines make the first or second round hang."""
_ENOUGH_S = 4.0
"""Seconds after which no more rounds of a pair begin: all three pairs are over before the scene is
cut off, however many lines the saver has to pause at.
"""
_SCHEDULE = Schedule("crossing", 1e-6, lines=0.2, pause_s=0.002)


def cross(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Make the calls of each pair at once, and report which pair was under way at the end."""
    scene = ScenePart({**arguments, "schedule": encode(_SCHEDULE)})
    scene.pauses.install()
    crossing = Crossing(scene)

    def play() -> None:
        with scene.saver() as saver:
            scene.pauses.trace(saver)
            scene.prepare(saver, operations_in(arguments["before"]))
            for _, pair in arguments["pairs"]:
                crossing.make_alone(saver, pair)
            with crossing.pausing():
                for name, pair in arguments["pairs"]:
                    crossing.make(saver, name, pair)

    played = scene.played(play)
    return {**played, "pair": crossing.pair, "raised": crossing.raised, "made": crossing.made}


@dataclass(slots=True)
class Crossing:
    """The calls of several callers. ``pair`` is the name of the pair that several callers make; ""
    while there is one caller alone.
    """

    scene: ScenePart
    pair: str = ""
    made: int = 0
    raised: list[str] = field(default_factory=list)

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Let the threads pause."""
        self.scene.pauses.on = True
        try:
            yield
        finally:
            self.scene.pauses.on = False
            self.pair = ""

    def make_alone(self, saver: Any, pair: Sequence[Sequence[Any]]) -> None:
        """Make the calls of one pair one after the other: what hangs here is no matter of callers.
        What is raised here is judged by other families.
        """
        driver = self.scene.driver(saver)
        for name, *given in pair:
            with suppress(Exception):
                answer = driver.invoke(name, *given)
                if self.scene.api != "sync":
                    self.scene.loop.run(answer)
            self.scene.progress.tick()

    def make(self, saver: Any, name: str, pair: Sequence[Sequence[Any]]) -> None:
        """Make the calls of one pair at once, several times."""
        self.pair = name
        driver = self.scene.driver(saver)
        calls = [pair[number % len(pair)] for number in range(CALLERS)]

        async def await_all() -> None:
            asked = [driver.invoke(name, *given) for name, *given in calls]
            for answer in await asyncio.gather(*asked, return_exceptions=True):
                self._answered(answer)

        def make_all(pool: concurrent.futures.Executor) -> None:
            barrier = threading.Barrier(CALLERS)

            def make_one(call: Sequence[Any]) -> None:
                barrier.wait()
                driver.invoke(call[0], *call[1:])

            for begun in [pool.submit(make_one, call) for call in calls]:
                self._answered(begun.exception())

        with concurrent.futures.ThreadPoolExecutor(CALLERS, "caller") as pool:
            began = time.monotonic()
            for _ in range(_ROUNDS):
                if time.monotonic() - began > _ENOUGH_S:
                    break
                if self.scene.api == "sync":
                    make_all(pool)
                else:
                    self.scene.loop.run(await_all())

    def _answered(self, answer: Any) -> None:
        self.made += 1
        self.scene.progress.tick()
        if isinstance(answer, Exception):
            self.raised.append(describe(answer)[:120])
