"""Runs in the process that reads. It holds a read, or a copy, at one of its places while another
process changes what is read.
"""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, Self

from saverproof.families.concurrency.callers.child import ScenePart, operations_in
from saverproof.families.concurrency.callers.messages import GoneError
from saverproof.families.concurrency.callers.records import Operation, TimedCall
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.held.changes_elsewhere import ChangesElsewhere
from saverproof.families.concurrency.held.holdable_reads import HoldableReads
from saverproof.families.concurrency.held.holding import (
    MARGIN_ELSEWHERE,
    Holding,
    HoldPoint,
    PlaceProbe,
    Probe,
    Probing,
)
from saverproof.families.concurrency.held.locks_seen import LockLooks
from saverproof.programs.steps.codec import decode, encode
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof_faults.kill import Acks

MOST_BLOCKED, _MOST_AFTER_THESE = 6, 1
"""The most places that are tried at which the change waits for the held read; the second number is
for the changes after one that left places out. At each such place time passes and nothing is seen.
"""
_TIMES, _NAP_S = 3, 0.05
"""How often, and after how many seconds, a read that shows what was is made again: a store may need
a moment until all that reads it see a change.
"""


@dataclass(slots=True)
class _Found:
    """A probe that records the places of a read, and never holds it."""

    places: list[HoldPoint] = field(default_factory=list)

    def at(self, place: HoldPoint) -> None:
        self.places.append(place)

    async def await_at(self, place: HoldPoint) -> None:
        self.places.append(place)


def read_held(acks: Acks, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Report what a read shows beside each change.

    That is: what it shows before the change and after each of its calls; what it shows if it is
    held at a place while the whole change is made; and what another read shows after that. ``left``
    counts the places that were not tried because the change had waited for the read too often.
    ``shut`` has the places at which the store keeps others out.
    """
    scene = ScenePart({**arguments, "schedule": encode(Schedule(""))})
    told: dict[str, Any] = {"places": 0, "shut": [], "free": [], "each": []}

    def play() -> None:
        with reading_beside_another(scene, arguments) as (reads, changes):
            HeldTrial.of(reads, changes, arguments).into(told)

    return {**scene.played(play), **told}


@contextmanager
def reading_beside_another(
    scene: ScenePart, arguments: Mapping[str, Any]
) -> Iterator[tuple[HoldableReads, ChangesElsewhere]]:
    """Meet the process that makes changes, and open the saver that reads. If the other process
    ends, report that as the scene's trouble.
    """
    try:
        with (
            ChangesElsewhere.of(scene, Path(arguments["meeting"])) as changes,
            scene.saver() as saver,
            HoldableReads.wherever_they_run(scene, saver) as reads,
        ):
            yield reads, changes
    except GoneError:
        scene.trouble = "the other process has ended"


class Changes(Protocol):
    """Makes calls beside a read."""

    @property
    def process(self) -> int | None:
        """The id of the process that makes the calls, if that is not this process."""

    def make(self, operations: Sequence[Operation]) -> list[TimedCall]:
        """Make calls one after the other."""

    def begun(self, operation: Operation) -> concurrent.futures.Future[list[TimedCall]]:
        """Begin a call."""


@dataclass(frozen=True)
class HeldTrial:
    """One read, and the changes that are made beside it.

    ``ends`` and ``before`` bring the store into the state in which each play begins. ``most`` is
    the number of places at which the read is held.

    A copy is no read: ``looks`` has the read that shows it, and ``clears`` what removes it.
    """

    reads: HoldableReads
    changes: Changes
    read: Operation
    looks: tuple[Operation, ...]
    clears: tuple[Operation, ...]
    ends: tuple[Operation, ...]
    before: tuple[Operation, ...]
    each: tuple[tuple[Operation, ...], ...]
    most: int

    @classmethod
    def of(cls, reads: HoldableReads, changes: Changes, arguments: Mapping[str, Any]) -> Self:
        """Make a trial from the arguments of its process."""
        ends, before = operations_in(arguments["ends"]), operations_in(arguments["before"])
        each = tuple(map(operations_in, arguments["each"]))
        (read,) = operations_in([arguments["read"]])
        looks, clears = operations_in(arguments["looks"]), operations_in(arguments["clears"])
        most = arguments["most"]
        return cls(reads, changes, read, looks, clears, ends, before, each, most)

    def into(self, told: dict[str, Any]) -> None:
        """Play the read beside every change, and add the results to ``told``."""
        self.prepare()
        found = _Found()
        self.alone(found)
        told["places"] = len(found.places)
        # A read that is answered from a cache does not come to all its places again.
        self.prepare()
        free = self.free(found.places)
        told["free"] = encode(free)
        told["shut"] = encode(self.shut([one for one in found.places if one not in free]))
        most_blocked = MOST_BLOCKED
        for change in self.each:
            told["each"].append(self.beside(change, free, most_blocked))
            if told["each"][-1]["left"]:
                most_blocked = _MOST_AFTER_THESE

    def beside(
        self,
        change: tuple[Operation, ...],
        places: list[HoldPoint],
        most_blocked: int = MOST_BLOCKED,
    ) -> dict[str, Any]:
        """Return what the read shows before, after and beside one change."""
        self.prepare()
        alone = [self.alone()]
        for made in change:
            self.changes.make([made])
            alone.append(self.alone())
        told: dict[str, Any] = {"alone": encode(alone), "held": [], "shut": [], "left": 0}
        self._hold_at(places, change, alone[-1], told, most_blocked)
        return told

    def _hold_at(
        self,
        places: list[HoldPoint],
        change: tuple[Operation, ...],
        expected: TimedCall,
        told: dict[str, Any],
        most_blocked: int,
    ) -> None:
        """Hold the read at some of the places, and then between any two neighbours with different
        results.

        A read of one moment shows the state before the change or after it. If a read shows a
        mixture at any place, that place is found, because it lies between places with different
        results.
        """
        blocked = 0

        def shown_at(number: int) -> Any:
            events = self.held_at(places[number], change)
            if not events:
                told["shut"].append(encode(places[number]))
                return None
            events += self.after(expected)
            told["held"].append([encode(places[number]), encode(events)])
            return [(event.shown, event.error) for event in events[-2:]]

        for tried, (_, shown) in enumerate(tell_apart(len(places), self.most, shown_at), 1):
            blocked += shown is None
            if blocked >= most_blocked:
                told["left"] = len(places) - tried
                return

    def after(self, expected: TimedCall) -> list[TimedCall]:
        """Return a read that follows a held one, and shows whether the held one left an old answer
        behind.

        ``expected`` is a read after the change. For a copy, the copy itself shows what was left
        behind.
        """
        if self.looks:
            return []
        again = self.alone()
        for _ in range(_TIMES):
            if again.shown == expected.shown:
                break
            time.sleep(_NAP_S)
            again = self.alone()
        return [again]

    def prepare(self) -> list[TimedCall]:
        first = (*self.clears, *self.ends)
        return self.changes.make([*first, *self.before])[len(first) :]

    def alone(self, doing: Probe | None = None) -> TimedCall:
        """Read undisturbed; return what was shown."""
        if self.clears:
            self.changes.make(self.clears)
        return self._looked(self.reads.read(self.read, doing))

    def _looked(self, made: TimedCall) -> TimedCall:
        """Return what a call showed. If it shows nothing by itself, look at what it made."""
        for look in self.looks if made.returned else ():
            made = self.reads.read(look)
        return made

    def free(self, places: list[HoldPoint]) -> list[HoldPoint]:
        """Return the places at which the store lets others write. If nobody can tell, return all
        places.
        """
        scene = self.reads.scene
        if scene.target.server is not None:
            # Nothing here tells a server that works from a lock that is waited for.
            return places
        if files := list(sqlite_files(scene.workspace.path)):
            with LockLooks.of(files) as looks:
                self.alone(looks)
                return _free_of(looks)
        again = self.before[0]
        probing = Probing(lambda: self.changes.begun(again), MARGIN_ELSEWHERE, self.changes.process)
        self.alone(probing)
        probing.end()
        shut = [place for place, free in probing.free if not free]
        if shut and self.held_at(shut[len(shut) // 2], self.each[0]):
            # A slow write looks like one that waits. No place is left out then.
            return places
        return _free_of(probing)

    def shut(self, places: list[HoldPoint]) -> list[HoldPoint]:
        """Return those of the ``places`` where others are kept out that may be shut by something of
        the saver's own.

        In an SQLite file none is: its locks are the operating system's, and a stopped process keeps
        them.
        """
        return [] if [*sqlite_files(self.reads.scene.workspace.path)] else places

    def held_at(self, place: HoldPoint, change: tuple[Operation, ...]) -> list[TimedCall]:
        """Return the calls that were made, with the read last. Return nothing if the change waited
        for the read.
        """
        events = self.prepare()
        holding = Holding(place, self.changes.process)
        read = self.reads.begin(self.read, holding)
        holding.come.wait()
        events += self.changes.make(change)
        holding.let_go.set()
        shown = self.shown_by(read)
        return [*events, *shown] if holding.overtaken else []

    def shown_by(self, read: concurrent.futures.Future[None]) -> list[TimedCall]:
        """Wait for the end of a call that was begun. Return the call, and the look at what it
        made.
        """
        read.result()
        made = self.reads.caller.events[-1]
        seen = self._looked(made)
        return [seen] if seen is made else [made, seen]


def _free_of(probe: PlaceProbe) -> list[HoldPoint]:
    return [place for place, free in probe.free if free]


def tell_apart(places: int, most: int, shown_at: Callable[[int], Any]) -> Iterator[tuple[int, Any]]:
    """Try up to ``most`` of the places, at least two, evenly from the first to the last. Then try
    the place in the middle between any two neighbours with different results. Yield each place's
    number with its result.
    """
    shown: dict[int, Any] = {}
    ahead = _spread(places, most)
    while ahead:
        for number in ahead:
            shown[number] = shown_at(number)
            yield number, shown[number]
        ahead = [
            (one + other) // 2
            for one, other in pairwise(sorted(shown))
            if other - one > 1 and shown[one] != shown[other]
        ]


def _spread(places: int, most: int) -> list[int]:
    if places <= most:
        return [*range(places)]
    return [number * (places - 1) // (most - 1) for number in range(most)]


def decoded(events: Any) -> list[TimedCall]:
    """Return events from the plain data of this process."""
    return [decode(TimedCall, one) for one in events]
