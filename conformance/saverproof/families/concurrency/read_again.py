"""Runs in the process that holds reads while another caller of the same saver changes what they
read, and then reads again.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saverproof.families.concurrency.answering import ELSEWHERE
from saverproof.families.concurrency.child import ScenePart
from saverproof.families.concurrency.held_reads import HeldTrial
from saverproof.families.concurrency.holdable_reads import HoldableReads
from saverproof.families.concurrency.holding import HoldPoint, Probing
from saverproof.families.concurrency.records import Operation, TimedCall
from saverproof.families.concurrency.schedules import Schedule
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


class RepeatedTrial(HeldTrial):
    """One read, and the changes that another caller of the same saver makes beside it."""

    def free(self, places: list[HoldPoint]) -> list[HoldPoint]:
        """Return the places at which the other caller is answered."""
        again = self.before[0]
        probing = Probing(lambda: self.changes.begun(again))
        self.alone(probing)
        probing.end()
        return [place for place, free in probing.free if free]


def read_again(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Report what a read shows beside each change.

    That is: what it shows before the change and after each of its calls; what it shows if it is
    held during the whole change; and what another read shows after that.
    """
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})
    told: dict[str, Any] = {"places": 0, "each": []}

    def play() -> None:
        with (
            scene.saver() as saver,
            HoldableReads.of(scene, saver) as reads,
            concurrent.futures.ThreadPoolExecutor(1, "changes") as pool,
        ):
            RepeatedTrial.of(reads, ChangesHere(scene, saver, pool), arguments).into(told)

    return {**scene.played(play), **told}
