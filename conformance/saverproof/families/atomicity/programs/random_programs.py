"""Decides which step comes next in a random program, and which steps have a fault.

A program is either drawn step by step, or recorded and taken again, in full or in part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeAlias

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.programs.generating import next_step
from saverproof.programs.legality import objection
from saverproof.programs.makers import batches, checkpoints, whole_threads
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Program, Put, PutWrites, Step
from saverproof.programs.theme import Theme
from saverproof.programs.values import Value
from saverproof_faults import Event, Fault, Lasts, Moment, Place, Plan

_ENGINE = (Fault.TRIGGER_ABORT, Fault.INTERRUPT, Fault.DENIED, Fault.LOCKED)
OUTAGES: Mapping[str, Injection] = {
    sort: Injection(Plan(fault, Place(event, 1), lasts=Lasts.ONWARDS))
    for sort, fault, event in (
        ("client", Fault.RAISE, Event.STATEMENT),
        ("files", Fault.IO_FULL, Event.SYSTEM_CALL),
        ("network", Fault.CONNECTION_RESET, Event.SEND),
    )
}
"""The faults of outages, by sort: from a step on, each statement fails, or each call that needs
disk space, or each message to a server, until the outage is over.
"""
KILL = Injection(killed=True)
"""The process is killed before the step."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of a program, with its fault if it has one."""

    step: Step
    injection: Injection | None = None


class StepSource(Protocol):
    """A source of the steps of a program."""

    threads: tuple[str, ...]

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        """Return the ``number``-th step, counted from 0; None at the end."""


FaultMaker: TypeAlias = Callable[[Random], Injection]
"""A function that draws a fault for a call, at a place that the call need not have."""


def _number(choose: Random) -> int:
    """Draw the number of the statement to fail: most calls have few, but a batch of a dozen writes
    may have one for each write.
    """
    return choose.randint(1, _MOST_PLACES) if choose.random() < 0.8 else choose.randint(9, 16)


def statement_fails(choose: Random) -> Injection:
    """A fault: the driver raises instead of running a statement."""
    return Injection(Plan(Fault.RAISE, Place(Event.STATEMENT, _number(choose))))


def early_statement_fails(choose: Random) -> Injection:
    """A fault: the driver raises instead of running one of the first statements, which every call
    has.
    """
    return Injection(Plan(Fault.RAISE, Place(Event.STATEMENT, choose.randint(1, 3))))


def commit_fails(choose: Random) -> Injection:
    """A fault: the driver raises instead of committing."""
    return Injection(Plan(Fault.RAISE, Place(Event.COMMIT, choose.choice((1, 1, 2)))))


def call_is_cancelled(choose: Random) -> Injection:
    """A fault: the await is cancelled."""
    moment = choose.choice(tuple(Moment))
    return Injection(Plan(Fault.CANCEL, Place(Event.AWAIT, choose.randint(1, 4), moment)))


def disk_fails(choose: Random) -> Injection:
    """A fault: the operating system reports an error of the disk."""
    return Injection(Plan(Fault.IO_ERROR, Place(Event.IO, choose.randint(1, 4))))


def disk_is_full(choose: Random) -> Injection:
    """A fault: the operating system reports that there is no room."""
    return Injection(Plan(Fault.IO_FULL, Place(Event.IO, choose.randint(1, 4))))


def call_on_a_file_fails(choose: Random) -> Injection:
    """A fault: the operating system ends a call on one of the saver's files with an error, or half
    done.
    """
    fault = choose.choice((Fault.IO_ERROR, Fault.IO_FULL, Fault.IO_SHORT))
    return Injection(Plan(fault, Place(Event.SYSTEM_CALL, choose.randint(1, _MOST_PLACES))))


def message_is_lost(choose: Random) -> Injection:
    """A fault: a message to the server, or its answer, is lost with the connection."""
    fault = choose.choice((Fault.CONNECTION_RESET, Fault.ANSWER_LOST, Fault.ANSWER_CUT))
    return Injection(Plan(fault, Place(Event.SEND, choose.randint(1, _MOST_MESSAGES))))


def engine_refuses(choose: Random) -> Injection:
    """A fault: the database itself refuses a statement, by a trigger, an interrupt or another's
    lock.
    """
    fault = choose.choice(_ENGINE)
    row = 1 if fault is Fault.TRIGGER_ABORT else None
    place = Place(Event.ENGINE_STATEMENT, _number(choose), row=row)
    return Injection(Plan(fault, place))


def connection_is_lost(choose: Random) -> Injection:
    """A fault: all open connections are cut."""
    del choose
    return Injection()


def process_is_killed(choose: Random) -> Injection:
    """A fault: the process is killed before the call, and another one opens the store."""
    del choose
    return KILL


def process_is_killed_inside(choose: Random) -> Injection:
    """A fault: the process is killed within the call, and another one opens the store."""
    place = Place(Event.STATEMENT, _number(choose))
    return Injection(Plan(Fault.KILL, place), killed=True)


FAULTS: Mapping[str, tuple[FaultMaker, ...]] = {
    "client": (statement_fails, statement_fails, commit_fails),
    "cancel": (call_is_cancelled,),
    "disk": (disk_fails, disk_is_full),
    "files": (call_on_a_file_fails,),
    "network": (message_is_lost,),
    "engine": (engine_refuses,),
    "connection": (connection_is_lost,),
    "kill": (process_is_killed,),
    "kill-inside": (process_is_killed_inside,),
}
"""The makers of faults, by sort. A saver may have no places for some sorts.

Contracts of atomicity say nothing of a kill inside a call: only the state machine kills there.
"""
_MOST_PLACES = 8
_MOST_MESSAGES = 4


def in_outage(injection: Injection | None, step: Step) -> bool:
    """Return whether a step is part of an outage.

    On a full disk, only steps that add something are part of it. A step that removes something may
    succeed, so it must keep its place among the steps that failed before.
    """
    if injection not in OUTAGES.values():
        return False
    return injection != OUTAGES["files"] or isinstance(step, (Put, PutWrites))


class DrawnSteps:
    """A random program with faults in its first half. Every third program has an outage near its
    end; the next step ends the outage.
    """

    def __init__(self, choose: Random, theme: Theme, length: int, kinds: tuple[str, ...]) -> None:
        self._choose = choose
        self._length = length
        self._kinds = kinds
        self._theme = theme
        self.threads: tuple[str, ...] = WATCHED
        half = length // 2
        outages = [outage for sort, outage in OUTAGES.items() if sort in kinds]
        begins = choose.random() < 1 / 3 and outages
        self._outage = range(half - 3, half) if begins else range(0)
        self._of_outage = choose.choice(outages) if begins else None

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        if number >= self._length:
            return None
        step = next_step(model, self._choose, self._theme)
        if number in self._outage:
            return PlannedStep(step, self._of_outage)
        return PlannedStep(step, self._fault() if number < self._length // 2 else None)

    def _fault(self) -> Injection | None:
        """Return a fault for about half of the steps, and None for the others."""
        if self._choose.random() < 0.5 or not self._kinds:
            return None
        return self._choose.choice(FAULTS[self._choose.choice(self._kinds)])(self._choose)


class RecordedSteps:
    """A recorded program, without the steps that are no longer legal."""

    def __init__(
        self,
        program: Program,
        faults: Mapping[int, Injection],
        threads: tuple[str, ...] | None = None,
    ) -> None:
        self._planned = [PlannedStep(step, faults.get(at)) for at, step in enumerate(program)]
        self._next = 0
        self.threads: tuple[str, ...] = WATCHED if threads is None else threads

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        while self._next < len(self._planned):
            planned, self._next = self._planned[self._next], self._next + 1
            if objection(planned.step, model) is None:
                return planned
        return None


_THREADS = ("a", "b")
WATCHED_NAMESPACES = ("", "child")
WATCHED = (*_THREADS, "twin", "other")
"""The threads of programs, and the threads that copies are made to."""


def fault_theme(able: Collection[str]) -> Theme:
    """Return a theme of writes whose effect a read shows at once, so that each state differs from
    the one before.
    """
    weights: dict[Any, int] = {
        checkpoints.put: 30,
        checkpoints.put_replacing: 10,
        batches.writes: 30,
        batches.writes_again: 15,
        batches.writes_special: 8,
    }
    weights |= {maker: weight for maker, (name, weight) in _RARER.items() if name in able}
    return Theme(
        "faults",
        weights=weights,
        threads=_THREADS,
        namespaces=WATCHED_NAMESPACES,
        values=_VALUES,
    )


_VALUES = tuple(Value(kind, 1) for kind in ("integer", "text", "list", "dict"))
"""The values of programs with faults: savers may keep scalars in the checkpoint, and all other
values apart from it.
"""


_RARER = {
    whole_threads.delete_thread: ("delete_thread", 6),
    whole_threads.copy_thread: ("copy_thread", 6),
    whole_threads.prune_to_latest: ("prune", 3),
}
"""The makers of optional operations: the name of each operation, and its weight."""
