"""Runs in a process that is stopped (SIGSTOP) in the middle of a read, and goes on (SIGCONT) after
another process has changed what it reads.

All its threads and its event loop stand still. If only the read were held, another thread might
renew a lock that expires.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from saverproof.families.concurrency.callers.child import ScenePart
from saverproof.families.concurrency.callers.records import Operation, TimedCall
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.held.changes_elsewhere import ChangesElsewhere
from saverproof.families.concurrency.held.held_reads import HeldTrial, reading_beside_another
from saverproof.families.concurrency.held.holding import Holding, HoldPoint
from saverproof.programs.steps.codec import decode, encode
from saverproof_faults.kill import Acks

_NAP_S = 0.001
"""Between looks at whether a read on an event loop may go on: short beside any stop."""


class StandStill(Holding):
    """A probe that stands still at a place until it is let go, however long that takes."""

    def at(self, place: HoldPoint) -> None:
        """Stand still if this is the place."""
        if self._is_there(place):
            self.let_go.wait()

    async def await_at(self, place: HoldPoint) -> None:
        """Do the same as :meth:`at` on an event loop."""
        if self._is_there(place):
            while not self.let_go.is_set():
                await asyncio.sleep(_NAP_S)


@dataclass(frozen=True)
class StoppedTrial(HeldTrial):
    """One read, in a process that is stopped in the middle of it, for ``longest_s`` seconds at
    most.
    """

    changes: ChangesElsewhere
    longest_s: float = 0.0

    def held_at(self, place: HoldPoint, change: tuple[Operation, ...]) -> list[TimedCall]:
        """Return the calls that were made, the read last; nothing if the change waited for the
        read.
        """
        events = self.prepare()
        standing = StandStill(place)
        read = self.reads.begin(self.read, standing)
        standing.come.wait()
        self.changes.begin_and_stop(change, self.longest_s)
        standing.let_go.set()
        shown = self.shown_by(read)
        made, in_time = self.changes.made_meanwhile()
        return [*events, *made, *shown] if in_time else []


def read_stopped(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Report the same as ``held_reads.read_held``, for a process that is stopped at one place."""
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})
    place = decode(HoldPoint, arguments["place"])
    told: dict[str, Any] = {"places": 1, "each": []}

    def play() -> None:
        with reading_beside_another(scene, arguments) as (reads, changes):
            trial = StoppedTrial.of(reads, changes, arguments)
            stopped = replace(trial, longest_s=arguments["longest_s"])
            told["each"] += [stopped.beside(change, [place]) for change in trial.each]

    return {**scene.played(play), **told}
