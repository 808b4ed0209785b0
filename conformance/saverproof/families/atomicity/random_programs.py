"""Where a random program goes: its steps, and which of them have a fault.

A program is drawn step by step, or is a recorded one that is taken again, in full or in part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.model.store import Model
from saverproof.programs.generating import next_step
from saverproof.programs.legality import objection
from saverproof.programs.makers import batches, checkpoints
from saverproof.programs.makers.whole_threads import delete_thread
from saverproof.programs.theme import Theme
from saverproof.steps.definitions import Program, Step
from saverproof_faults import Event, Fault, Lasts, Moment, Place, Plan

_ENGINE = (Fault.TRIGGER_ABORT, Fault.INTERRUPT, Fault.DENIED, Fault.LOCKED)
OUTAGE = Injection(Plan(Fault.RAISE, Place(Event.STATEMENT, 1), lasts=Lasts.ONWARDS))
"""From a step on every statement fails, until the outage is over."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of a program, with its fault if it has one."""

    step: Step
    injection: Injection | None = None


class StepSource(Protocol):
    """Says what comes next."""

    threads: tuple[str, ...]

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        """The ``number``-th step, counted from 0; None at the end."""


class DrawnSteps:
    """A random program with faults in its first half. Every third one has an outage in the end
    of it, which the step that follows ends.
    """

    def __init__(
        self, choose: Random, able: frozenset[str], length: int, kinds: tuple[str, ...]
    ) -> None:
        self._choose = choose
        self._length = length
        self._kinds = kinds
        self._theme = _theme(able)
        self.threads = self._theme.threads
        half = length // 2
        self._outage = range(half - 3, half) if choose.random() < 1 / 3 else range(0)

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        if number >= self._length:
            return None
        step = next_step(model, self._choose, self._theme)
        if number in self._outage:
            return PlannedStep(step, OUTAGE)
        return PlannedStep(step, self._fault() if number < self._length // 2 else None)

    def _fault(self) -> Injection | None:
        """A fault for every other step, at a place that the call may have or not."""
        choose = self._choose
        if choose.random() < 0.5:
            return None
        index = choose.randint(1, 8)
        match choose.choice(self._kinds):
            case "client":
                event = choose.choice((Event.STATEMENT, Event.STATEMENT, Event.COMMIT))
                at = Place(event, 1 if event is Event.COMMIT else index)
                return Injection(Plan(Fault.RAISE, at))
            case "cancel":
                moment = choose.choice(tuple(Moment))
                return Injection(Plan(Fault.CANCEL, Place(Event.AWAIT, min(index, 4), moment)))
            case "disk":
                return Injection(Plan(Fault.IO_ERROR, Place(Event.IO, min(index, 4))))
        fault = choose.choice(_ENGINE)
        row = 1 if fault is Fault.TRIGGER_ABORT else None
        return Injection(Plan(fault, Place(Event.ENGINE_STATEMENT, index, row=row)))


class RecordedSteps:
    """A program taken again; steps that are not legal any more are left out."""

    def __init__(self, program: Program, faults: Mapping[int, Injection]) -> None:
        self._planned = [PlannedStep(step, faults.get(at)) for at, step in enumerate(program)]
        self._next = 0
        self.threads: tuple[str, ...] = _THREADS

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        while self._next < len(self._planned):
            planned, self._next = self._planned[self._next], self._next + 1
            if objection(planned.step, model) is None:
                return planned
        return None


_THREADS = ("a", "b")


def _theme(able: frozenset[str]) -> Theme:
    """Writes whose effect is seen at once: each state can be told from the one before."""
    weights: dict[Any, int] = {
        checkpoints.put: 30,
        checkpoints.put_replacing: 10,
        batches.writes: 30,
        batches.writes_again: 15,
        batches.writes_special: 8,
    }
    if "delete_thread" in able:
        weights[delete_thread] = 3
    return Theme("faults", weights=weights, threads=_THREADS)
