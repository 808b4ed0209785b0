"""Counts the places of an operation in a clean run, then fails each of them in turn."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from saverproof.execution.settled_calls import awaiting
from saverproof.families.atomicity.bench import Bench
from saverproof.families.atomicity.fault_plans import Attack, attacks, lasting
from saverproof.families.atomicity.injection import serializing, strike
from saverproof.families.atomicity.judging import (
    CANCELLED,
    LOST_CONNECTION,
    SILENT,
    USABLE,
    Judge,
    Verdict,
)
from saverproof.families.atomicity.observation import Ending, Moment, Sight
from saverproof.families.atomicity.prepared_store import NoCleanRunError, Stage, prepared
from saverproof.families.atomicity.reference_states import References
from saverproof.families.atomicity.scenarios import Scenario
from saverproof.families.atomicity.trial import Trial
from saverproof.families.atomicity.worker import call_quietly
from saverproof.steps.definitions import SetUp
from saverproof_faults import Places, Plan, count_awaits


@dataclass(slots=True)
class Counted:
    """What the operation passed in its clean run."""

    places: Places = field(default_factory=Places)
    cancellations: tuple[Plan, ...] = ()
    values: int = 0


@dataclass(slots=True)
class Sweep:
    """One scenario: its stage, its clean runs, and the faults that can strike it."""

    bench: Bench
    scenario: Scenario
    stage: Stage
    references: References
    judge: Judge
    counted: Counted
    attacks: list[Attack]
    clean: Verdict | None
    """What is wrong without any fault, if anything is."""

    def strike(self, attack: Attack, sight: Sight) -> None:
        """One trial, on the worker's thread; what is seen goes into ``sight`` as it is seen."""
        trial = Trial(self.bench, self.scenario, self.stage, sight, self.judge.surely_wrong)
        trial.run(lambda running: strike(running, attack))

    def verdict(self, attack: Attack, sight: Sight) -> Verdict:
        """The verdict on what was seen."""
        verdict = self.judge.judge(sight)
        if verdict.contract is not None and attack.kind == "cancellation":
            return replace(verdict, contract=CANCELLED)
        if verdict.contract == USABLE and attack.lost:
            return replace(verdict, contract=LOST_CONNECTION)
        return verdict


def swept(bench: Bench, scenario: Scenario, stack: ExitStack, *, also_lasting: bool) -> Sweep:
    """Prepare a scenario, run it clean, and list what can be failed.

    Raises:
        NoCleanRunError: it cannot be judged, since it does not work.
        OpeningError: the saver could not be opened.
    """
    stage = stack.enter_context(
        prepared(scenario, bench.target, bench.folder, bench.loop, bench.api)
    )
    counted = Counted()
    after = _clean(bench, scenario, stage, lambda trial: _count(trial, counted))
    before = after
    if not isinstance(scenario.step, SetUp):
        before = _clean(bench, scenario, stage, lambda _: None)
        _clean(bench, scenario, stage, lambda trial: _count_values(trial, counted))
    references = References(scenario, before, after, counted.places.transactions)
    strict = bench.injector.engine_unavailable is None and references.transactions > 0
    judge = Judge(references, strict=strict)
    found = attacks(counted.places, counted.cancellations, counted.values)
    if bench.losing and not isinstance(scenario.step, SetUp):
        found.append(Attack())
    if also_lasting:
        found += lasting(tuple(found), counted.places.calls)
    return Sweep(
        bench, scenario, stage, references, judge, counted, found, _unstored(references, judge)
    )


def _clean(
    bench: Bench, scenario: Scenario, stage: Stage, operate: Callable[[Trial], None]
) -> Sight:
    sight = Sight()
    Trial(bench, scenario, stage, sight, reference=True).run(operate)
    if sight.ending is not Ending.RETURNED:
        raise NoCleanRunError(f"{scenario.operation} ({scenario.title}): {sight.error}")
    return sight


def _count(trial: Trial, counted: Counted) -> None:
    bench = trial.bench
    before = 0 if bench.disk is None else bench.disk.total
    with bench.injector.counting() as counting:
        if bench.api == "async" and not trial.is_setup:
            counted.cancellations = _awaits(trial)
        else:
            trial.ended(call_quietly(trial.operation))
        trial.settle()
    io_calls = () if bench.disk is None else bench.disk.calls_since(before)
    counted.places = replace(counting.places, io_calls=io_calls)


def _count_values(trial: Trial, counted: Counted) -> None:
    """In a run of its own: with a serializer that it does not know a saver may do other things."""
    with serializing(trial.driver.saver, 0) as serializer:
        trial.ended(call_quietly(trial.operation))
        trial.settle()
    counted.values = 0 if serializer is None else serializer.count


def _awaits(trial: Trial) -> tuple[Plan, ...]:
    operation = awaiting(trial.driver, trial.stage.script.operation)
    clean = trial.bench.loop.run(count_awaits(operation))
    trial.ended(clean.error)
    return clean.plans()


def _unstored(references: References, judge: Judge) -> Verdict | None:
    """A clean run whose operation returned while others do not see it: no fault is needed."""
    after = references.after
    own, fresh = after.looks.get(Moment.OWN), after.looks.get(Moment.FRESH)
    if references.before is after or own is None:
        return None
    hidden = fresh is not None and not fresh.unreadable and not own.agrees(fresh)
    # A lock without a transaction is a saver that keeps the store for itself.
    if not hidden and not (after.locked and after.transactions):
        return None
    return Verdict(
        "lost",
        SILENT,
        "it returned, and others do not see it",
        "all of it stored when the call returns",
        "nothing of it: "
        + (", ".join(after.locked) + " is locked" if after.locked else "not there"),
    )
