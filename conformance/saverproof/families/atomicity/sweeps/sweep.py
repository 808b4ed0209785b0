"""Counts the places of an operation in a clean run, then makes each of them fail in turn."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from saverproof.errors import NoCleanRunError
from saverproof.families.atomicity.fault_plans import SESSIONS_ENDED, Injection, injections, lasting
from saverproof.families.atomicity.scenarios import FaultScenario
from saverproof.families.atomicity.sweeps.earlier_calls import EarlierCalls
from saverproof.families.atomicity.sweeps.interruptions import interruptions
from saverproof.families.atomicity.sweeps.judging import FaultJudge
from saverproof.families.atomicity.sweeps.reference_states import References
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.counting import (
    changes_files,
    counting_places,
    state_of_files,
)
from saverproof.families.atomicity.trials.injection import inject, serializing
from saverproof.families.atomicity.trials.observation import TrialObservation, Viewpoint
from saverproof.families.atomicity.trials.prepared_store import PreparedStore, prepared
from saverproof.families.atomicity.trials.server import DEATHS
from saverproof.families.atomicity.trials.trial import FaultTrial
from saverproof.families.atomicity.trials.worker import (
    HungError,
    SlowError,
    UnansweredError,
    call_quietly,
)
from saverproof.families.atomicity.verdicts import (
    CANCELLED,
    LATE,
    LOST_CONNECTION,
    PREVIOUS,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
    broken,
)
from saverproof.savers.execution.settled_calls import awaiting
from saverproof_faults import Fault, Places, Plan, count_awaits

_THROUGHOUT = frozenset({Fault.DISK_FULL, Fault.READ_ONLY})
"""Faults that have only one place in an operation, so that an even choice among hundreds would
seldom take it. A saver may treat each as an error of its own.
"""
_AWAITS = 3
"""An operation is cancelled at each of this many awaits: one for each table. Where there are more,
one stands for the rest.
"""


_OF_OPERATIONS = frozenset({WHOLE, LATE, USABLE, LOST_CONNECTION, PREVIOUS, CANCELLED})
"""What nothing can be said of where a fault may have struck after the operation."""


@dataclass(slots=True)
class CleanRun:
    """The places that an operation passed in a run without faults."""

    places: Places = field(default_factory=Places)
    cancellations: tuple[Plan, ...] = ()
    values: int = 0
    changes: bool = False
    """True if a layer saw the operation change files."""
    leaves_all: bool = False
    """True if the operation returned, and was seen to change no file and to tell no server."""
    unseen: bool = False
    """True if files changed, although no layer saw a call that changed them."""
    unseen_writes: str = ""
    """Why it is not known what a server wrote."""


@dataclass(slots=True)
class FaultSweep:
    """One scenario: its store, its clean runs, and the faults to inject."""

    bench: FaultBench
    scenario: FaultScenario
    store: PreparedStore
    references: References
    judge: FaultJudge
    counted: CleanRun
    injections: list[Injection]
    clean: FaultVerdict | None
    """What is wrong without any fault, if anything is."""
    earlier: EarlierCalls
    hurried: bool = False
    """True if waiting longer was seen to change nothing."""

    def inject(self, injection: Injection, observation: TrialObservation) -> None:
        """Make one trial, on the worker's thread; ``observation`` is filled in as it goes on."""
        trial = FaultTrial(
            self.bench, self.scenario, self.store, observation, self.judge.surely_wrong
        )
        trial.run(lambda running: inject(running, injection))

    def tried(self, injection: Injection) -> TrialObservation:
        """Make one trial. If a call never returned, that is part of the observation.

        Raises:
            SlowError: a call took so long that nothing can be said.
        """
        observation = TrialObservation()
        try:
            self.bench.on_worker(partial(self.inject, injection, observation))
        except UnansweredError as problem:
            # A call that was given up may still come back, and must then change nothing here.
            observation = replace(observation, fired=observation.fired or observation.has_fired())
            self.bench.renew()
            if not isinstance(problem, HungError):
                raise
            observation.hung = str(problem)
        return observation

    def judged(self, injection: Injection) -> tuple[TrialObservation, FaultVerdict]:
        """Make one trial, and return what was seen and the verdict.

        What a cancelled call leaves may be wrong only because a service elsewhere has not yet ended
        what it was sent. That is so if the same trial is right with time for it, and wrong once
        more without.

        Raises:
            SlowError: a call took so long that nothing can be said.
        """
        first = self._judged_once(injection)
        observation, verdict = first
        if verdict.contract != CANCELLED or observation.hung or self.hurried:
            return first
        if not self.bench.linger():
            return first
        try:
            waited = self._judged_once(injection)
            self.bench.hurry()
            if _is_right(waited[1]):
                observation, verdict = self._judged_once(injection)
                if verdict.contract == CANCELLED and not observation.hung:
                    self.bench.linger()
                    return waited
        except SlowError:
            self.bench.hurry()
        self.hurried = True
        return first

    def _judged_once(self, injection: Injection) -> tuple[TrialObservation, FaultVerdict]:
        observation = self.tried(injection)
        return observation, self.verdict(injection, observation)

    def verdict(self, injection: Injection, observation: TrialObservation) -> FaultVerdict:
        """Return the verdict on the observation."""
        verdict = self.judge.judge(observation)
        if self.scenario.closed:
            return _of_later(verdict)
        if injection.plan is not None and injection.plan.fault in DEATHS:
            verdict = self.earlier.judge(injection.plan.fault, observation, verdict)
        if verdict.contract is not None and injection.kind == "cancellation":
            return replace(verdict, contract=CANCELLED)
        if injection.disconnects:
            renamed = {USABLE: LOST_CONNECTION}
            contract = None if verdict.contract is None else renamed.get(verdict.contract)
            unseen = frozenset(renamed.get(name, name) for name in verdict.unseen)
            return replace(verdict, contract=contract or verdict.contract, unseen=unseen)
        return verdict


def _is_right(verdict: FaultVerdict) -> bool:
    return verdict.contract is None and verdict.outcome != "not-fired"


def sort_of(tried: tuple[FaultSweep, Injection]) -> tuple[str, ...]:
    """Return the sort of a trial. At least one trial of each sort is made.

    If the server refuses to write, the sort is the operation and the table, or prefix of keys. If
    the caller is interrupted, or the whole database is full or read-only, it is the operation. If
    an await is cancelled, it is the operation and the number of the await: what one leaves half
    done, another does as a whole. If a first opening fails below the driver, it is the kind of
    call.
    """
    sweep, injection = tried
    if injection.kind == "io" and sweep.scenario.makes_the_store:
        return (injection.name, sweep.scenario.title, injection.about.partition(" ")[0])
    if injection.kind == "cancellation" and injection.plan is not None:
        await_ = min(injection.plan.place.index, _AWAITS)
        return (injection.name, sweep.scenario.operation, str(await_))
    if injection.interrupts or injection.name in _THROUGHOUT:
        return (injection.name, sweep.scenario.operation)
    if injection.name != Fault.SERVER_REFUSED:
        return (injection.name,)
    return (injection.name, sweep.scenario.operation, injection.about.partition(" on ")[2])


def swept(
    bench: FaultBench, scenario: FaultScenario, stack: ExitStack, *, also_lasting: bool
) -> FaultSweep:
    """Prepare a scenario, run it without faults, and list what can be made to fail.

    Raises:
        NoCleanRunError: the scenario does not work without faults, and cannot be judged.
        OpeningError: the saver could not be opened.
    """
    store = stack.enter_context(prepared(scenario, bench))
    counted = CleanRun()
    after = _clean(bench, scenario, store, lambda trial: _count(trial, counted))
    if _keeps_to_itself(after):
        # A saver that is still at work in the background gives the lock back.
        after = _clean(bench, scenario, store, FaultTrial.settle_in_background)
    before = after
    if not scenario.is_setup:
        before = _clean(bench, scenario, store, FaultTrial.settle)
        if not scenario.closed:
            _clean(bench, scenario, store, lambda trial: _count_values(trial, counted))
    references = References(scenario, before, after)
    judge = FaultJudge(references)
    cancellations = () if scenario.closed else counted.cancellations
    found = injections(counted.places, cancellations, counted.values)
    if scenario.makes_the_store:
        # No table is there yet on which a trigger could be.
        found = [injection for injection in found if injection.name != Fault.TRIGGER_ABORT]
    if not scenario.is_setup:
        found += [Injection()] if bench.losing else []
    if not scenario.is_setup and not scenario.closed:
        found += interruptions(counted.places.calls) if bench.api == "sync" else []
        found += [SESSIONS_ENDED] if bench.server is not None else []
    if also_lasting:
        found += lasting(tuple(found), counted.places.calls)
    unstored, earlier = _unstored(references, judge), EarlierCalls(bench, store, references)
    return FaultSweep(bench, scenario, store, references, judge, counted, found, unstored, earlier)


def swept_later(sweep: FaultSweep, stack: ExitStack) -> FaultSweep | None:
    """Prepare the same scenario for a saver that still writes after the operation has returned. The
    saver is closed before anyone looks, and can fail until then. Return None if it writes nothing
    then.

    Raises:
        NoCleanRunError: the scenario does not work without faults.
        OpeningError: the saver could not be opened.
    """
    bench, scenario = sweep.bench, replace(sweep.scenario, closed=True)
    if not sweep.counted.leaves_all or scenario.is_setup or not bench.fresh:
        return None
    later = swept(bench, scenario, stack, also_lasting=False)
    if not later.references.differ(Viewpoint.FRESH):
        return None
    open_ = sweep.references
    if open_.shows(Viewpoint.FRESH) and not open_.differ(Viewpoint.FRESH):
        sweep.clean = sweep.clean or _UNSEEN
    return later


def _clean(
    bench: FaultBench,
    scenario: FaultScenario,
    store: PreparedStore,
    operate: Callable[[FaultTrial], None],
) -> TrialObservation:
    observation = TrialObservation()
    FaultTrial(bench, scenario, store, observation, reference=True).run(operate)
    if not observation.returned:
        raise NoCleanRunError(f"{scenario.operation} ({scenario.title}): {observation.error}")
    own = observation.snapshots.get(Viewpoint.OWN)
    if own is not None and own.unreadable:
        text = f"{scenario.operation} ({scenario.title}): afterwards a read raises {own.unreadable}"
        raise NoCleanRunError(text)
    return observation


def _count(trial: FaultTrial, counted: CleanRun) -> None:
    # Before its first set-up a store has no tables to be watched.
    where = (trial.workspace.path.name, trial.databases)
    before = state_of_files(trial.workspace.path)
    with counting_places(trial.bench, *where, writes=not trial.is_setup) as found:
        if trial.bench.api == "async" and not trial.is_setup:
            counted.cancellations = _awaits(trial)
        else:
            trial.observation.ended(call_quietly(trial.operation))
        trial.settle()
    counted.places, counted.unseen_writes = found.places, found.unseen_writes
    changed = state_of_files(trial.workspace.path) != before
    held = trial.bench.files is not None and not trial.is_setup
    counted.changes = held and changes_files(found.places)
    counted.unseen = held and changed and not counted.changes
    counted.leaves_all = not changed and not found.places.sends


def _count_values(trial: FaultTrial, counted: CleanRun) -> None:
    """Count the serialized values in a separate run: with another serializer, a saver may do other
    things.
    """
    with serializing(trial.driver.saver, 0) as serializer:
        trial.observation.ended(call_quietly(trial.operation))
        trial.settle()
    counted.values = 0 if serializer is None else serializer.count


def _awaits(trial: FaultTrial) -> tuple[Plan, ...]:
    operation = awaiting(trial.driver, trial.store.settled.operation)
    clean = trial.bench.loop.run(count_awaits(operation))
    trial.observation.ended(clean.error)
    return clean.plans()


_UNSEEN = broken(
    SILENT,
    "it returned, and nobody sees it before the saver is closed",
    "all of it stored when the call returns",
    "nothing of it",
)


def _of_later(verdict: FaultVerdict) -> FaultVerdict:
    """Return the verdict on an operation together with the closing of its saver. Either may raise;
    the verdict is only about acknowledged data that is lost.
    """
    if verdict.contract == SILENT or verdict.outcome == "not-fired":
        return verdict
    return FaultVerdict("clean", unseen=_OF_OPERATIONS)


def _keeps_to_itself(after: TrialObservation) -> bool:
    """Return whether an operation left a transaction open that keeps others out of the store. A
    lock without a transaction is a saver that always keeps the store for itself.
    """
    return bool(after.locked and after.transactions)


def _unstored(references: References, judge: FaultJudge) -> FaultVerdict | None:
    """Return the verdict on a clean run whose operation returned, but others do not see its effect.
    That is a flaw even without a fault.
    """
    after = references.after
    own, fresh = after.snapshots.get(Viewpoint.OWN), after.snapshots.get(Viewpoint.FRESH)
    if references.before is after or own is None:
        return None
    hidden = fresh is not None and not fresh.unreadable and not own.agrees(fresh)
    if not hidden and not _keeps_to_itself(after):
        return None
    return broken(
        SILENT,
        "it returned, and others do not see it",
        "all of it stored when the call returns",
        "nothing of it: "
        + (", ".join(after.locked) + " is locked" if after.locked else "not there"),
    )
