"""Finds the shortest program with faults that shows the violation of a random one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from saverproof.errors import NoCleanRunError
from saverproof.families.atomicity.programs.own_steps import OwnFaultSteps
from saverproof.families.atomicity.programs.random_programs import PlannedStep, RecordedSteps
from saverproof.families.atomicity.programs.random_trial import RandomTrial
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.worker import UnansweredError
from saverproof.programs.rewriting.simplifying import simpler
from saverproof.programs.rewriting.spans import with_simpler_items, without_spans
from saverproof_faults import FaultsError, Places

_MOST_TRIED = 120

PlannedSteps = tuple[PlannedStep, ...]


def shortest_program(
    bench: FaultBench, violation: ProgramViolation, own: OwnFaultSteps | None = None
) -> ProgramViolation:
    """Return a program from which no step and no fault can be left out; at worst the given one."""
    trials = _Trials(bench, violation, own)
    planned_steps, before = _planned(violation), PlannedSteps()
    while planned_steps != before:
        before = planned_steps
        planned_steps = without_spans(planned_steps, trials.tried)
        planned_steps = with_simpler_items(planned_steps, trials.tried, _simpler)
    return trials.shortest


def _planned(violation: ProgramViolation) -> PlannedSteps:
    return tuple(
        PlannedStep(step, violation.faults.get(at)) for at, step in enumerate(violation.program)
    )


def _simpler(planned: PlannedStep, planned_steps: PlannedSteps) -> Iterator[PlannedStep]:
    """Yield the step without its fault, if there is another fault in the program, then with simpler
    steps.
    """
    if (
        planned.injection is not None
        and sum(other.injection is not None for other in planned_steps) > 1
    ):
        yield replace(planned, injection=None)
    for step in simpler(planned.step, tuple(other.step for other in planned_steps)):
        yield replace(planned, step=step)


@dataclass(slots=True)
class _Trials:
    """Runs parts of a program; ``shortest`` is the latest part that broke the same contract."""

    bench: FaultBench
    shortest: ProgramViolation
    own: OwnFaultSteps | None
    left: int = _MOST_TRIED

    def tried(self, planned_steps: PlannedSteps) -> PlannedSteps | None:
        """Return the steps that were taken, if the shortened program still breaks the contract."""
        if self.left <= 0 or not planned_steps:
            return None
        self.left -= 1
        again = self._again(planned_steps)
        if again is None or again.verdict.contract != self.shortest.verdict.contract:
            return None
        self.shortest = again
        return _planned(again)

    def _again(self, planned_steps: PlannedSteps) -> ProgramViolation | None:
        faults = {
            at: planned.injection
            for at, planned in enumerate(planned_steps)
            if planned.injection is not None
        }
        program = tuple(planned.step for planned in planned_steps)
        random_trial = RandomTrial(self.bench, RecordedSteps(program, faults), own=self.own)
        try:
            return self.bench.on_worker(random_trial.run)
        except NoCleanRunError:
            return None
        except UnansweredError:
            self.bench.renew()
            return None


def places_of(
    bench: FaultBench, violation: ProgramViolation, position: int, own: OwnFaultSteps | None = None
) -> Places:
    """Return the places that a step of the program passes if it is not failed."""
    steps = RecordedSteps(violation.program, {})
    random_trial = RandomTrial(bench, steps, counted=position, own=own)
    with suppress(FaultsError, NoCleanRunError):
        try:
            bench.on_worker(random_trial.run)
        except UnansweredError:
            bench.renew()
    return random_trial.places
