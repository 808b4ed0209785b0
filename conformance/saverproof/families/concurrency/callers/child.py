"""Runs in the processes of histories: callers that begin together, and the answers that they get.

Every function is called by ``saverproof_faults.kill`` as 'module:function' with plain data.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from saverproof.errors import OpeningError, describe
from saverproof.families.concurrency.callers.calling import Caller, minted
from saverproof.families.concurrency.callers.handed_late import loop_handed_late
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.records import (
    Operation,
    OperationKind,
    Phase,
    TimedCall,
    round_of,
)
from saverproof.families.concurrency.callers.schedules import Pauses, Schedule
from saverproof.families.concurrency.callers.watching import PATIENCE_S, AnswerCount, watch
from saverproof.programs.steps.codec import decode, encode
from saverproof.savers.execution.driver import ApiDriver, AwaitedDriver
from saverproof.savers.execution.own_ids import ids_for
from saverproof.savers.targets.calling import api_of
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.frames import raised_in
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.opening import opened
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.workspace import Workspace
from saverproof_faults.kill import Acks

Arguments = Mapping[str, Any]
User = tuple[Any, int, Sequence[Operation]]
"""A saver, the number of a caller that uses it, and what that one does."""

_OPENINGS = 20
_NAP_S = 0.05
"""Seconds between two tries to open a saver. All tries take a second, in which any other process
has opened or closed the store.
"""
_READS = 50
"""How many reads are made at most beside a call. Three were over before a call that had waited for
another process took its lock; without a bound, the watch would see no hang.
"""
BEFORE, AFTER = -1, -2
"""The numbers of the single callers at the beginning and at the end."""


class ScenePart:
    """One process's part: savers opened on the store, and callers that use them."""

    def __init__(self, arguments: Arguments) -> None:
        self.api: str = arguments["api"]
        self.workspace = Workspace.from_json(arguments)
        self.progress = AnswerCount()
        self.callers: list[Caller] = []
        self.trouble: str | None = None
        self._versions: list[Any] = []
        self.pauses = Pauses(decode(Schedule, arguments["schedule"]))
        self._arguments = arguments
        self.target = load(TargetRef.from_json(arguments["target"]))
        self.loop = EventLoop(partial(loop_handed_late, self.pauses))
        self.ids = ids_for(self.target, self.workspace)

    def is_targets_own(self, error: OpeningError) -> bool:
        """Return whether an error was raised by the target's function itself, not by the saver's
        code.
        """
        cause = error.__cause__
        return cause is not None and raised_in(self.target.open, cause)

    @contextmanager
    def saver(self) -> Iterator[Any]:
        """Open a saver on the store. If that fails because of other processes, try again a moment
        later: only the races of first calls judge such failures.
        """
        with ExitStack() as stack:
            for left in reversed(range(_OPENINGS)):
                try:
                    saver = stack.enter_context(self.saver_at_once())
                    break
                except OpeningError:
                    if not left:
                        raise
                    time.sleep(_NAP_S)
            yield saver

    @contextmanager
    def saver_at_once(self) -> Iterator[Any]:
        """Open a saver on the store, without a second attempt if that fails because of other
        processes.
        """
        with opened(self.target, self.workspace, self.loop) as saver:
            self.progress.tick()
            yield saver

    def driver(self, saver: Any) -> ApiDriver:
        """Return a driver that calls a saver, or whose calls are awaited."""
        kind = ApiDriver if self.api == "sync" else AwaitedDriver
        return kind(saver, api_of(self.api, self.loop), self.ids)

    def caller(self, saver: Any, number: int) -> Caller:
        """Return one more caller that uses a saver."""
        caller = Caller(self.driver(saver), number, self._versions_of(saver), self._moved)
        self.callers.append(caller)
        return caller

    def _versions_of(self, saver: Any) -> list[Any]:
        """Return the versions that all callers share, including those in other processes. A
        channel that a run does not change keeps the version that it was stored with.
        """
        if not self._versions:
            file = Path(self._arguments.get("meeting", "none")).with_suffix(".versions")
            meets = self._arguments.get("in_rounds") and "meeting" in self._arguments
            if meets and file.exists():
                self._versions = json.loads(file.read_text())
            else:
                self._versions = minted(saver)
                if meets:
                    file.write_text(json.dumps(self._versions))
        return self._versions

    def _moved(self) -> None:
        self.progress.tick()
        self.pauses.moved()

    def alone(self, saver: Any, number: int, operations: Iterable[Operation]) -> None:
        """Make calls one after the other with one caller."""
        caller = self.caller(saver, number)
        if self.api == "sync":
            for operation in operations:
                caller.call(operation)
        else:
            self.loop.run(_awaited(caller, operations))

    def beside_reads(
        self, saver: Any, number: int, operations: Iterable[Operation], meeting: Meeting
    ) -> None:
        """Make calls one after the other, each when the other processes make theirs, while another
        caller of the same saver reads.

        What that one is shown is not judged. What it closes may be what keeps other processes out.
        """
        caller = self.caller(saver, number)
        reader = Caller(self.driver(saver), number, (), self.progress.tick)
        if self.api != "sync":
            self.loop.run(_awaited_beside_reads(caller, reader, operations, meeting))
            return

        def read(place: int, over: threading.Event) -> None:
            for _ in range(_READS):
                if not over.is_set():
                    reader.call(Operation(OperationKind.LATEST, place))

        with concurrent.futures.ThreadPoolExecutor(1, "reader") as pool:
            for operation in operations:
                over = threading.Event()
                meeting.step()
                begun = pool.submit(read, operation.place, over)
                caller.call(operation)
                over.set()
                begun.result()

    def prepare(self, saver: Any, operations: Iterable[Operation]) -> None:
        """Make calls, none of which may raise.

        Raises:
            RuntimeError: a call raised.
        """
        self.alone(saver, BEFORE, operations)
        wrong = next((event.error for event in self.callers[-1].events if event.error), None)
        if wrong is not None:
            raise RuntimeError(f"preparing the store raised {wrong}")

    def together(self, users: Sequence[User]) -> None:
        """Let callers begin at the same moment, in threads or in tasks; wait for all of them."""
        in_step = Turns(self._arguments["in_step"], self._arguments.get("in_rounds", False))
        callers = [(self.caller(saver, number), made) for saver, number, made in users]
        self.pauses.trace(users[0][0])
        self.pauses.begin(len(callers))
        if self.api == "async":
            self.loop.run(_gathered(callers, in_step, self.pauses))
            self.pauses.on = False
            return
        barrier = threading.Barrier(len(callers))
        threads = [
            threading.Thread(
                target=_at_once,
                args=(barrier, *one, in_step, self.pauses),
                name=f"caller {one[0].number}",
                daemon=True,
            )
            for one in callers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.pauses.on = False

    def played(self, scene: Callable[[], object]) -> dict[str, Any]:
        """Run a scene under the watch, and return what its callers were answered."""

        def guarded() -> None:
            try:
                scene()
            except Exception as error:  # noqa: BLE001 - opening a saver may raise anything
                self.trouble = describe(error)

        patience_s = self._arguments.get("patience_s", PATIENCE_S)
        still = watch(guarded, self.progress, self.loop, patience_s)
        return {
            "events": [encode(event) for event in self._events()],
            "trouble": self.trouble,
            "standstill": encode(still),
        }

    def _events(self) -> Iterator[TimedCall]:
        phases = {BEFORE: Phase.BEFORE, AFTER: Phase.AFTER}
        for caller in self.callers:
            phase = phases.get(caller.number, Phase.DURING)
            yield from (event.at(phase) for event in list(caller.events))


@dataclass(frozen=True, slots=True)
class Turns:
    """The calls before which all callers wait for each other: every call, or the first call of each
    round.
    """

    in_step: bool = False
    in_rounds: bool = False

    def of(self, operations: Iterable[Operation]) -> Iterator[tuple[Operation, bool]]:
        """Yield each operation, with whether all callers wait for each other before it."""
        last = None
        for operation in operations:
            now = round_of(operation.place)
            yield operation, self.in_step or (self.in_rounds and now != last)
            last = now


def _at_once(
    barrier: threading.Barrier,
    caller: Caller,
    operations: Sequence[Operation],
    turns: Turns,
    pauses: Pauses,
) -> None:
    barrier.wait()
    for operation, waits in turns.of(operations):
        if waits:
            pauses.meet()
            barrier.wait()
        caller.call(operation)
    pauses.meet()


async def _awaited(caller: Caller, operations: Iterable[Operation]) -> None:
    for operation in operations:
        await caller.await_call(operation)


async def _awaited_beside_reads(
    caller: Caller, reader: Caller, operations: Iterable[Operation], meeting: Meeting
) -> None:
    for operation in operations:
        meeting.step()
        made = asyncio.ensure_future(caller.await_call(operation))
        for _ in range(_READS):
            await asyncio.sleep(0)
            if not made.done():
                await reader.await_call(Operation(OperationKind.LATEST, operation.place))
        await made


async def _gathered(
    callers: Sequence[tuple[Caller, Sequence[Operation]]],
    turns: Turns,
    pauses: Pauses,
) -> None:
    barrier = asyncio.Barrier(len(callers))

    async def take_turns(caller: Caller, operations: Sequence[Operation]) -> None:
        for operation, waits in turns.of(operations):
            if waits:
                pauses.meet()
                await barrier.wait()
            await caller.await_call(operation)
        pauses.meet()

    tasks = [
        asyncio.create_task(take_turns(caller, made), name=f"caller {caller.number}")
        for caller, made in callers
    ]
    await asyncio.gather(*tasks)


def share(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Play a history with threads or tasks: one caller alone, then all callers on ``savers``
    savers, then one caller alone.
    """
    scene = ScenePart(arguments)
    scene.pauses.install()

    def play() -> None:
        with ExitStack() as stack:
            savers = [stack.enter_context(scene.saver()) for _ in range(arguments["savers"])]
            # Threads that an event loop has started before would not pause between lines.
            scene.pauses.trace(savers[0])
            scene.alone(savers[0], BEFORE, operations_in(arguments["before"]))
            each = [operations_in(made) for made in arguments["callers"]]
            scene.together([(savers[n % len(savers)], n, made) for n, made in enumerate(each)])
            after = operations_in(arguments["after"])
            if len(savers) == 1:
                scene.alone(savers[0], AFTER, after)
                return
            # What each saver shows must not lag behind what was acknowledged through another; what
            # is there is for one that was not there before to say.
            for number, saver in enumerate(savers, len(each)):
                scene.alone(saver, number, after)
            with scene.saver() as fresh:
                scene.alone(fresh, AFTER, after)

    return scene.played(play)


def begin(arguments: Arguments) -> dict[str, Any]:
    """Make the calls that come before all others, in one process."""
    return _quiet(arguments, BEFORE, "before")


def end(arguments: Arguments) -> dict[str, Any]:
    """Make the calls that come after all others, in one process."""
    return _quiet(arguments, AFTER, "after")


def _quiet(arguments: Arguments, caller: int, part: str) -> dict[str, Any]:
    scene = ScenePart(arguments)

    def play() -> None:
        with scene.saver() as saver:
            scene.alone(saver, caller, operations_in(arguments[part]))

    return scene.played(play)


def take_part(acks: Acks, arguments: Arguments) -> dict[str, Any]:
    """Make the calls of one of several processes that work at the same time."""
    scene = ScenePart(arguments)
    scene.pauses.install()
    scene.pauses.on = True

    def play() -> None:
        with scene.saver() as saver:
            number = arguments["caller"]
            made = operations_in(arguments["callers"][number])
            reads = arguments.get("reads_beside", False)
            if not reads and not arguments.get("in_rounds"):
                scene.alone(saver, number, made)
                return
            with Meeting(Path(arguments["meeting"]), number, len(arguments["callers"])) as meeting:
                if reads:
                    scene.beside_reads(saver, number, made, meeting)
                    return
                for place, of_round in groupby(made, key=lambda one: round_of(one.place)):
                    meeting.await_all(place + 1)
                    scene.alone(saver, number, of_round)

    return scene.played(play)


def operations_in(data: Iterable[Sequence[Any]]) -> tuple[Operation, ...]:
    """Return operations made from plain data."""
    return tuple(decode(Operation, one) for one in data)
