"""Runs in a process in which awaited calls have to wait for turns of the event loop."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from saverproof.families.concurrency.callers.calling import Caller
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.records import (
    FIRST_OF_ROUNDS,
    Operation,
    OperationKind,
)
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.callers.watching import without_kit
from saverproof.families.concurrency.scenes.iteration import method_of
from saverproof.families.drivers import declared, nothing_passed, with_loaded
from saverproof.programs.steps.codec import encode
from saverproof_faults.counters import Waited, Waits
from saverproof_faults.kill import Acks

_PLACE, _RUN = FIRST_OF_ROUNDS, "a run"
PREPARED = (
    *(Operation(OperationKind.PUT, _PLACE, number, tag=1_000 + number) for number in range(1, 8)),
    Operation(OperationKind.PUT, _PLACE, 8, tag=1_008, run=_RUN),
    Operation(OperationKind.WRITES, _PLACE, 6, 1_020, 3, 2),
    Operation(OperationKind.PUT, 2, 1, tag=1_009),
)
BESIDE = Operation(OperationKind.LATEST, 2)
"""The read that another task makes while a call is held."""
LOOKED_AT = (
    BESIDE,
    Operation(OperationKind.LATEST, _PLACE),
    Operation(OperationKind.GET, _PLACE, 2),
    Operation(OperationKind.LIST, _PLACE),
    Operation(OperationKind.WRITES, _PLACE, 6, 1_021, 4, 2),
    Operation(OperationKind.PUT, _PLACE, 50, tag=1_010),
    Operation(OperationKind.COPY, _PLACE),
    Operation(OperationKind.DELETE_RUN, _PLACE, run=_RUN),
    Operation(OperationKind.PRUNE, _PLACE),
    Operation(OperationKind.DELETE, _PLACE),
)
"""One call of each operation of a saver; the first one is also made beside the others."""


@dataclass(slots=True)
class Waiting:
    """Makes the calls of one saver, each of which waits for the event loop.

    For each call, ``looks`` has the operation, the method, how many calls of a driver were let go,
    where the loop stood still ("" if it went on), and what the call raised, or None.
    """

    scene: ScenePart
    operations: Collection[str]
    looks: list[list[Any]] = field(default_factory=list)
    under_way: str = ""
    nothing_passed: str = ""

    def play(self) -> None:
        """Make every call alone. Make it beside another call as well, as long as the loop has not
        stood still.
        """
        # Only a driver that is loaded can be made to wait.
        with self.scene.saver():
            pass
        drivers, problems = declared(self.scene.target)
        with Waits(with_loaded(drivers)) as waits, self.scene.saver() as saver:
            self.scene.prepare(saver, PREPARED)
            callers = self.scene.caller(saver, 0), self.scene.caller(saver, 1)
            self.scene.loop.run(self._look(waits, *callers))
        self.nothing_passed = nothing_passed(problems, "its files are not made to wait")

    async def _look(self, waits: Waits, caller: Caller, other: Caller) -> None:
        beside = partial(other.await_call, BESIDE)
        for operation in LOOKED_AT:
            method = method_of(operation)
            if method not in self.operations:
                continue
            self.under_way = operation.describe()
            call = partial(caller.await_call, operation)
            waited = await waits.of(call)
            let_go, where = waited.held, _where(waited)
            went_on = not where and not any(stood for *_, stood, _ in self.looks)
            if went_on:
                # If a call stands still only beside another one, both need the same thing.
                waited = await waits.of(call, beside)
                let_go, where = let_go + waited.held, _where(waited)
            error = caller.events[-1].error
            self.looks.append([self.under_way, method, let_go, where, error])


def _where(waited: Waited) -> str:
    """Return where the loop first stood still, as lines."""
    return next(
        (without_kit(traceback.StackSummary.from_list(stack)) for stack in waited.stood), ""
    )


def wait(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Let each awaited call of a saver wait for the loop.

    Return "looks" (see Waiting); "operation", the last one under way; "blocked", whether the loop
    stands still in it for ever; "nothing_passed", why no call of a driver was seen.
    """
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})
    waiting = Waiting(scene, frozenset(arguments["operations"]))
    played = scene.played(waiting.play)
    still = played["standstill"]
    hung = still is not None and still["hung"]
    return {
        "looks": list(waiting.looks),
        "operation": waiting.under_way,
        "blocked": hung and bool(waiting.under_way) and scene.loop.is_blocked(),
        "nothing_passed": waiting.nothing_passed,
        "trouble": played["trouble"],
        "standstill": still,
    }
