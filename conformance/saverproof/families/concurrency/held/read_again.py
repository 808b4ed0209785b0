"""Runs in the process that holds reads while another caller of the same saver changes what they
read, and then reads again.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from saverproof.families.concurrency.callers.answering import ELSEWHERE
from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.records import (
    PLACES_OF_A_ROUND,
    Operation,
    OperationKind,
    TimedCall,
)
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.held.held_reads import MOST_BLOCKED, HeldTrial
from saverproof.families.concurrency.held.holdable_reads import HoldableReads
from saverproof.families.concurrency.held.holding import HoldPoint, Probing
from saverproof.programs.steps.codec import encode
from saverproof_faults.kill import Acks


@dataclass(frozen=True, slots=True)
class ChangesHere:
    """Makes calls of the saver whose read is held."""

    scene: ScenePart
    saver: Any
    pool: concurrent.futures.Executor
    process: None = None

    def make(self, operations: Sequence[Operation]) -> list[TimedCall]:
        """Make calls one after the other."""
        self.scene.alone(self.saver, ELSEWHERE, operations)
        return self.scene.callers.pop().events

    def begun(self, operation: Operation) -> concurrent.futures.Future[list[TimedCall]]:
        """Begin a call."""
        return self.pool.submit(self.make, [operation])


@dataclass(frozen=True)
class RepeatedTrial(HeldTrial):
    """One read, and the changes that another caller of the same saver makes beside it.

    ``after_alone`` has the read that followed each change of one caller alone: what hangs before
    that is no matter of callers.
    """

    after_alone: list[TimedCall] = field(default_factory=list)

    def free(self, places: list[HoldPoint]) -> list[HoldPoint]:
        """Return all places: which of them are free, each change has to find out."""
        return places

    def beside(
        self,
        change: tuple[Operation, ...],
        places: list[HoldPoint],
        most_blocked: int = MOST_BLOCKED,
    ) -> dict[str, Any]:
        """Return what the read shows before, after and beside one change."""
        self.prepare()
        self.changes.make(change)
        self.after_alone.append(self.alone())
        self.prepare()
        return super().beside(
            change, self._answered(harmless(change[0], self.before)), most_blocked
        )

    def _answered(self, call: Operation) -> list[HoldPoint]:
        """Return the places at which another caller's call is answered.

        A lock that keeps a put out need not keep out a deletion, so each change is asked about with
        a call of its own kind.
        """
        probing = Probing(lambda: self.changes.begun(call))
        self.alone(probing)
        probing.end()
        return [place for place, free in probing.free if free]


def harmless(change: Operation, before: Sequence[Operation]) -> Operation:
    """Return a call like this one that leaves what is read as it is, so that the read comes to the
    places that it comes to while the change is made.

    A checkpoint or a batch more would have a read go once more through a loop, to places that it
    does not come to when it is held.
    """
    match change.kind:
        case OperationKind.PUT | OperationKind.WRITES:
            return next(one for one in before if one.kind is change.kind)
        case OperationKind.DELETE | OperationKind.PRUNE_ALL:
            return replace(change, place=change.place + PLACES_OF_A_ROUND)
        case OperationKind.DELETE_RUN:
            return replace(change, run="a run that never was")
        case _:
            return change


def read_again(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Report what a read shows beside each change.

    That is: what it shows before the change and after each of its calls; what it shows if it is
    held during the whole change; and what another read shows after that.
    """
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})
    told: dict[str, Any] = {"places": 0, "each": []}
    after_alone: list[TimedCall] = []

    def play() -> None:
        with (
            scene.saver() as saver,
            HoldableReads.of(scene, saver) as reads,
            concurrent.futures.ThreadPoolExecutor(1, "changes") as pool,
        ):
            trial = RepeatedTrial.of(reads, ChangesHere(scene, saver, pool), arguments)
            replace(trial, after_alone=after_alone).into(told)

    return {**scene.played(play), **told, "answered_alone": len(after_alone)}
