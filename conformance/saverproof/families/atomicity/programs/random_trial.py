"""Runs programs in which faults are steps among others.

A second saver, on a workspace of its own, takes the same calls without any fault. After a call that
failed, the first saver has to show what the second shows either without that call or with it. Then
the call is made again, and both go on from the same state.

If a call fails in an outage, both savers put it off, and make it again when the outage is over. A
call that succeeds in an outage counts as made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Self

from saverproof.errors import OpeningError, describe
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.programs.own_steps import OwnFaultSteps
from saverproof.families.atomicity.programs.random_again import CallAgain
from saverproof.families.atomicity.programs.random_calls import counted, failed, undisturbed
from saverproof.families.atomicity.programs.random_judging import (
    Expected,
    judged_as_read,
    judged_once_closed,
    judged_under_fault,
    judged_without_fault,
    torn_by,
    unusable_after,
)
from saverproof.families.atomicity.programs.random_programs import (
    OUTAGES,
    WATCHED_NAMESPACES,
    PlannedStep,
    StepSource,
    in_outage,
)
from saverproof.families.atomicity.programs.random_stores import RandomStores
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.counting import counting_places
from saverproof.families.atomicity.trials.observation import TrialObservation
from saverproof.families.atomicity.trials.worker import call_quietly
from saverproof.families.atomicity.verdicts import (
    LATE,
    SILENT,
    USABLE,
    FaultVerdict,
    broken,
)
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import (
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    GetTuple,
    ListTuples,
    OwnStep,
    Program,
    Prune,
    Step,
)
from saverproof.savers.execution.copied_files import copy_files
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.settled_calls import Key, SettledCall, awaiting
from saverproof.savers.execution.view import Snapshot, Wanted, latest_key
from saverproof.savers.workspace import Workspace
from saverproof_faults import Places, Plan

_READS = (GetTuple, ListTuples, DeltaHistory)
_REMOVALS = (DeleteThread, DeleteForRuns, Prune)


@dataclass(slots=True)
class RandomTrial:
    """One program. All methods run on the worker's thread.

    ``note`` is called before each step, with the steps up to it, and their faults. ``counted``, if
    set, is the position of a step that is not failed, and for which ``places`` and
    ``cancellations`` are filled in.
    """

    bench: FaultBench
    source: StepSource
    note: Callable[[Program, Mapping[int, Injection]], object] = lambda program, faults: None
    counted: int | None = None
    own: OwnFaultSteps | None = None
    places: Places = field(default_factory=Places)
    cancellations: tuple[Plan, ...] = ()
    injected: int = 0
    _taken: list[Step] = field(default_factory=list)
    _faults: dict[int, Injection] = field(default_factory=dict)
    _waiting: list[SettledCall] = field(default_factory=list)
    """The calls that failed in the current outage."""
    _puts: dict[Key, SettledCall] = field(default_factory=dict)
    """The call that has put each checkpoint."""
    _before: Snapshot = field(default_factory=Snapshot)
    _earlier: list[Snapshot] = field(default_factory=list)
    """The states that were seen before each call that is over."""
    _stores: RandomStores = field(init=False)

    def __post_init__(self) -> None:
        self._stores = RandomStores(self.bench, self.own)

    def run(self) -> ProgramViolation | None:
        """Take the steps. Return the violation, if there is one.

        Raises:
            NoCleanRunError: the saver that never fails cannot be read.
        """
        with self:
            while (planned := self.source.planned(len(self._taken), self.model)) is not None:
                if self._stores.objection(planned.step) is not None:
                    continue
                if (violation := self.take(planned)) is not None:
                    return violation
            return self.finish() or self._reopened()

    def __enter__(self) -> Self:
        """Open the saver under test, and the saver beside it that never fails."""
        self._stores.__enter__()
        if self.bench.server is not None:
            self.bench.server.visit(self._stores.workspace)
        self._before = self._stores.expected(self._wanted)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stores.__exit__(*exc_info)

    @property
    def driver(self) -> ApiDriver:
        """The driver of the saver that fails."""
        return self._stores.driver

    @property
    def model(self) -> Model:
        """The model of what the saver that never fails holds."""
        return self._stores.model

    @property
    def _wanted(self) -> Wanted:
        latest = (latest_key(*names) for names in product(self.source.threads, WATCHED_NAMESPACES))
        return Wanted(tuple(latest), self.source.threads)

    def take(self, planned: PlannedStep) -> ProgramViolation | None:
        """Take one step, under its fault if it has one. Return the violation, if there is one."""
        (call,) = self._stores.calls.settle((planned.step,))
        if call.key is not None:
            self._puts[call.key] = call
        injection = planned.injection
        self._taken.append(planned.step)
        self._note(planned)
        self.bench.worker.say(f"step {len(self._taken)} of a random program")
        if in_outage(injection, planned.step):
            return self._in_outage(call, injection)
        if injection in OUTAGES.values():
            injection = None
        violation = self.finish() or self._beside(call)
        expected = self._expected(call)
        if violation is None and injection is not None and injection.killed:
            violation = None if injection.plan else self._kill(injection)
        if violation is None:
            violation = self._step(call, injection, expected)
        if violation is None:
            self._go_on(expected)
            violation = self._invariants()
        return violation

    def _expected(self, call: SettledCall) -> Expected:
        """Return what may be seen after a call. The saver beside this one has already taken the
        call.
        """
        after = self._stores.expected(self._wanted)
        # A removal that is done in part may leave what was there once.
        earlier = () if isinstance(call.step, _REMOVALS) else tuple(self._earlier)
        alike = (self._before, after)
        return Expected(*alike, tuple(one for one in earlier if one not in alike))

    def _go_on(self, expected: Expected) -> None:
        self._earlier.append(self._before)
        self._before = expected.after

    def _in_outage(self, call: SettledCall, injection: Injection | None) -> ProgramViolation | None:
        """Make a call in an outage: it fails and waits for the end of the outage, or succeeds."""
        ended = self._do(call, injection)
        locked = self._locked(ended)
        seen = self._seen()
        self.injected += ended.fired
        if not ended.fired:
            del self._faults[len(self._taken) - 1]
        failed = not ended.returned and (ended.fired or bool(self._waiting))
        if failed and not locked and seen == self._before:
            self._waiting.append(call)
            return None
        if violation := self._beside(call):
            return violation
        expected = self._expected(call)
        self._go_on(expected)
        if not ended.fired:
            return self._violation(judged_without_fault(ended, expected, seen))
        return self._violation(judged_under_fault(ended, injection, expected, seen, locked=locked))

    def _locked(self, ended: TrialObservation) -> bool:
        """Return whether a failed call keeps others from writing. The test comes before the saver's
        next call, which may end what is left open.
        """
        return ended.fired and self._stores.write_locked

    def finish(self) -> ProgramViolation | None:
        """Return what is wrong after the end of an outage, if there was one."""
        if not self._waiting:
            return None
        if self._seen() != self._before:
            return self._violation(broken(LATE, "what failed is stored after the outage"))
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            if violation := self._beside(call) or self._violation(self._works_again(call)):
                return violation
        self._before = self._stores.expected(self._wanted)
        if self._seen() != self._before:
            return self._violation(
                broken(USABLE, "what failed stores something else after the outage")
            )
        return None

    def _reopened(self) -> ProgramViolation | None:
        """Return what is wrong after the saver that has lived through the faults was closed."""
        if not self._faults or not self.bench.target.durable:
            return None
        self.bench.worker.say("opening a fresh saver")
        try:
            self._stores.reopen()
        except OpeningError as error:
            if error.stage != "opening":
                raise
            verdict = broken(USABLE, "no saver can be opened again", "to open", error.message)
        else:
            found = judged_once_closed(self._before, self._seen())
            if found is None:
                return None
            verdict = found
        return replace(self.violation_of(verdict, verdict.observed), closed=True)

    def _works_again(self, call: SettledCall) -> FaultVerdict | None:
        error = call_quietly(partial(self._stores.perform, self.driver, call))
        if error is None:
            return None
        return broken(USABLE, "a call fails after the outage", "to work", describe(error))

    def _kill(self, injection: Injection) -> ProgramViolation | None:
        """Go on with a copy of the files, taken as a killed process leaves them."""
        left = self._stores.workspace.path
        if not self.bench.target.durable or not any(left.iterdir()):
            return None
        fresh = self._stores.fresh()
        copy_files(left, fresh.path)
        self._reopen(fresh, injection)
        if self._seen() != self._before:
            return self._violation(broken(SILENT, "what was acknowledged is gone after a kill"))
        return None

    def _kill_inside(
        self, call: SettledCall, plan: Plan, injection: Injection, expected: Expected
    ) -> ProgramViolation | None:
        """Go on with a copy of the files, taken as a process leaves them if it is killed at a place
        of the call.
        """
        left, fresh = self._stores.workspace.path, self._stores.fresh()
        copied: list[Path] = []

        def copy() -> None:
            copy_files(left, fresh.path)
            copied.append(fresh.path)

        with self.bench.injector.trapped(plan.place, copy):
            ended = undisturbed(self.bench, partial(self._stores.perform, self.driver, call))
        if not copied:
            return self._unharmed(ended, expected, self._seen())
        self._reopen(fresh, injection)
        seen = self._seen()
        if seen not in (expected.before, expected.after):
            said = seen.unreadable or "part of the operation"
            verdict = broken(torn_by(injection), "it was killed, and part is seen", "all", said)
            return self.violation_of(verdict, "killed")
        return self._again(call, expected, injection, "killed")

    def _reopen(self, fresh: Workspace, injection: Injection) -> None:
        self._stores.go_on_in(fresh)
        self._faults[len(self._taken) - 1] = injection
        self.injected += 1

    def _note(self, planned: PlannedStep) -> None:
        coming = {} if planned.injection is None else {len(self._taken) - 1: planned.injection}
        self.note(tuple(self._taken), self._faults | coming)

    def _seen(self) -> Snapshot:
        return self._stores.seen(self._wanted)

    def _step(
        self, call: SettledCall, injection: Injection | None, expected: Expected
    ) -> ProgramViolation | None:
        if injection is not None and injection.killed and injection.plan is not None:
            return self._kill_inside(call, injection.plan, injection, expected)
        ended = self._do(call, injection)
        locked = self._locked(ended)
        seen = self._seen()
        if not ended.fired:
            return self._unharmed(ended, expected, seen)
        self.injected += 1
        wrong = judged_under_fault(ended, injection, expected, seen, locked=locked)
        if wrong is not None and isinstance(call.step, _READS):
            wrong = judged_as_read(wrong, injection)
        if wrong is not None:
            return self._violation(wrong)
        self._stores.commit_elsewhere()
        return self._again(call, expected, injection, ended.said)

    def _unharmed(
        self, ended: TrialObservation, expected: Expected, seen: Snapshot
    ) -> ProgramViolation | None:
        position = len(self._taken) - 1
        if position in self._faults and not self._faults[position].killed:
            del self._faults[position]
        return self._violation(judged_without_fault(ended, expected, seen))

    def _again(
        self, call: SettledCall, expected: Expected, injection: Injection | None, ending: str
    ) -> ProgramViolation | None:
        again = CallAgain(self._stores, self._wanted, self._puts)
        verdict = again.wrong(call, expected, injection)
        if verdict is not None and isinstance(call.step, _READS):
            verdict = judged_as_read(verdict, injection)
        return None if verdict is None else self.violation_of(verdict, ending)

    def _do(self, call: SettledCall, injection: Injection | None) -> TrialObservation:
        """Make the call, under the fault if there is one. Return whether the fault fired, and how
        the call ended.
        """
        bench, position = self.bench, len(self._taken) - 1
        bench.calls += 1
        operation = partial(self._stores.perform, self.driver, call)
        if position == self.counted:
            where = (self._stores.workspace.name, self._stores.database_names)
            awaited = partial(awaiting, self.driver, call)
            with counting_places(bench, *where, writes=False) as found:
                seen, self.cancellations = counted(bench, operation, awaited)
            self.places = found.places
            return seen
        own = isinstance(call.step, OwnStep)
        if injection is None or (own and injection.kind == "cancellation"):
            # What an author's rule awaits is not known.
            return undisturbed(bench, operation)
        self._faults[position] = injection
        return failed(bench, operation, partial(awaiting, self.driver, call), injection)

    def _beside(self, call: SettledCall) -> ProgramViolation | None:
        """Make the call on the saver that never fails, where an author's rule may be broken as
        well.
        """
        error = call_quietly(partial(self._stores.perform, self._stores.reference, call))
        if error is None:
            return None
        if not isinstance(call.step, OwnStep):
            raise error
        return self._own_violation(call.step.contract, error)

    def _invariants(self) -> ProgramViolation | None:
        """Return the author's invariant that is broken now, if one is."""
        for contract, look in self.own.invariants(self.driver, self.model) if self.own else ():
            if (error := call_quietly(look)) is not None:
                return self._own_violation(contract, error)
        return None

    def _own_violation(self, contract: str, error: BaseException) -> ProgramViolation:
        said = describe(error)
        verdict = FaultVerdict("torn", contract, str(error), "no exception", f"raised {said}")
        return self.violation_of(verdict, said)

    def _violation(self, verdict: FaultVerdict | None) -> ProgramViolation | None:
        return None if verdict is None else self.violation_of(verdict, verdict.observed)

    def hung(self, which: str) -> ProgramViolation:
        """Return the violation of a call that never returned, after which the trial was given
        up.
        """
        faults = f"{count} faults" if (count := len(self._faults)) > 1 else "a fault"
        summary = f"after {faults}, the saver hangs"
        demanding = {*map(unusable_after, self._faults.values())}
        contract = demanding.pop() if len(demanding) == 1 else USABLE
        verdict = broken(contract, summary, "an answer or an error", which)
        return ProgramViolation(tuple(self._taken), dict(self._faults), verdict, which, hung=True)

    def violation_of(self, verdict: FaultVerdict, ending: str) -> ProgramViolation:
        """Return the violation that the steps so far have led to."""
        program, faults = tuple(self._taken), dict(self._faults)
        return ProgramViolation(program, faults, verdict, ending, self._stores.database_names)
