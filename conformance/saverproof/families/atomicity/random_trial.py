"""Programs in which faults are steps among the others.

Beside the saver under test another one, on a workspace of its own, takes the same calls without any
fault. What the first shows after a call that failed is what the second shows without that call or
with it; then the call is made again, and both go on from the same state. In an outage every call
fails, and leaves nothing; when it is over, all of them are made again.
"""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, Self

from saverproof.contracts.tables import durability
from saverproof.errors import describe
from saverproof.execution.driver import ApiDriver
from saverproof.execution.settled_calls import Calls, SettledCall, awaiting, perform
from saverproof.execution.view import Snapshot, Wanted, latest_key, snapshot
from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.judging import (
    CANCELLED,
    LATE,
    LOST_CONNECTION,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
)
from saverproof.families.atomicity.observation import TrialObservation
from saverproof.families.atomicity.own_steps import OwnFaultSteps
from saverproof.families.atomicity.random_calls import failed, undisturbed
from saverproof.families.atomicity.random_programs import (
    OUTAGE,
    WATCHED_NAMESPACES,
    PlannedStep,
    StepSource,
)
from saverproof.families.atomicity.scenarios import UNRELATED
from saverproof.families.atomicity.worker import call_quietly
from saverproof.model.store import Model
from saverproof.programs.small import unrelated
from saverproof.steps.definitions import CopyThread, OwnStep, Program, Step
from saverproof.targets.opening import fresh_workspace, opened
from saverproof.workspace import Workspace
from saverproof_faults import Places, Plan, commit_elsewhere, write_locked

IN_FLIGHT = durability.IN_FLIGHT_ATOMIC.id
_OUTCOMES = {
    WHOLE: "torn",
    SILENT: "lost",
    LATE: "late",
    USABLE: "stuck",
    CANCELLED: "torn",
    LOST_CONNECTION: "stuck",
}


@dataclass(frozen=True, slots=True)
class ProgramViolation:
    """What a random program came to: its steps, the fault of each that had one, and the verdict.

    ``databases`` are the SQLite files of its store, relative to the workspace; ``hung`` says that
    a call never returned.
    """

    program: Program
    faults: dict[int, Injection]
    verdict: FaultVerdict
    ending: str
    databases: tuple[str, ...] = ()
    hung: bool = False


@dataclass(slots=True)
class RandomTrial:
    """One program. Everything here happens on the worker's thread.

    ``note`` is called with the steps so far, and their faults, before the last is taken.
    ``counted``, if set, is the position of a step whose places are counted, into ``places``, and
    which is not failed.
    """

    bench: FaultBench
    source: StepSource
    note: Callable[[Program, Mapping[int, Injection]], object] = lambda program, faults: None
    counted: int | None = None
    own: OwnFaultSteps | None = None
    places: Places = field(default_factory=Places)
    injected: int = 0
    _taken: list[Step] = field(default_factory=list)
    _faults: dict[int, Injection] = field(default_factory=dict)
    _waiting: list[SettledCall] = field(default_factory=list)
    """The calls that failed in the outage."""
    _folder: str = ""
    _stack: ExitStack = field(default_factory=ExitStack)
    _driver: ApiDriver | None = None
    _reference: ApiDriver | None = None
    _calls: Calls | None = None
    _before: Snapshot = field(default_factory=Snapshot)
    _workspace: Workspace | None = None

    def run(self) -> ProgramViolation | None:
        """Take the steps; gives what went wrong, if anything did."""
        with self:
            while (planned := self.source.planned(len(self._taken), self.model)) is not None:
                if self._objection(planned.step) is not None:
                    continue
                if (violation := self.take(planned)) is not None:
                    return violation
            return self.finish()

    def __enter__(self) -> Self:
        """Open the saver under test, and the one beside it that is never failed."""
        with ExitStack() as stack:
            self._workspace, saver = self._open(stack)
            other, beside = self._open(stack)
            self._folder = f"{os.path.realpath(self._workspace.path)}/"
            self._driver = self.bench.driver(saver, self._workspace)
            self._reference = self.bench.driver(beside, other)
            self._calls = Calls(lambda current: beside.get_next_version(current, None))
            self._before = snapshot(self._reference, self._wanted)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stack.close()

    @property
    def driver(self) -> ApiDriver:
        """Of the saver that is failed."""
        assert self._driver is not None
        return self._driver

    @property
    def model(self) -> Model:
        """What the saver that is never failed holds."""
        assert self._calls is not None
        return self._calls.model

    @property
    def _wanted(self) -> Wanted:
        latest = (latest_key(*names) for names in product(self.source.threads, WATCHED_NAMESPACES))
        return Wanted(tuple(latest), self.source.threads)

    def take(self, planned: PlannedStep) -> ProgramViolation | None:
        """Take one step, under its fault if it has one; gives what went wrong, if anything did."""
        assert self._calls is not None
        assert self._reference is not None
        (call,) = self._calls.settle((planned.step,))
        injection = planned.injection
        self._taken.append(planned.step)
        self._note(planned)
        self.bench.worker.say(f"step {len(self._taken)} of a random program")
        violation = None if injection == OUTAGE else self.finish()
        violation = violation or self._beside(call)
        after = snapshot(self._reference, self._wanted)
        if violation is None and injection is not None and injection.killed:
            violation = None if injection.plan else self._kill(injection)
        if violation is None:
            violation = self._step(self.driver, call, injection, self._wanted, self._before, after)
        if violation is None and not self._waiting:
            self._before = after
            violation = self._invariants()
        return violation

    def finish(self) -> ProgramViolation | None:
        """What is wrong once an outage is over, if there was one."""
        assert self._driver is not None
        assert self._reference is not None
        if not self._waiting:
            return None
        violation = self._end_outage(self._driver, self._wanted, self._before)
        self._before = snapshot(self._reference, self._wanted)
        return violation

    def _kill(self, injection: Injection) -> ProgramViolation | None:
        """Go on with the files as a killed process leaves them."""
        assert self._workspace is not None
        if not self.bench.target.durable or not any(self._workspace.path.iterdir()):
            return None
        fresh = self._fresh()
        shutil.copytree(self._workspace.path, fresh.path, dirs_exist_ok=True)
        self._reopen(fresh, injection)
        if snapshot(self.driver, self._wanted) != self._before:
            return self._violation(SILENT, "what was acknowledged is gone after a kill", "", "")
        return None

    def _kill_inside(
        self, call: SettledCall, plan: Plan, injection: Injection, after: Snapshot
    ) -> ProgramViolation | None:
        """Go on with the files as a process leaves them that is killed at a place of the call."""
        assert self._workspace is not None
        left, fresh = self._workspace.path, self._fresh()
        copies: list[object] = []

        def copy_files() -> None:
            copies.append(shutil.copytree(left, fresh.path, dirs_exist_ok=True))

        with self.bench.injector.trapped(plan.place, copy_files):
            ended = undisturbed(self.bench, partial(self._perform, self.driver, call))
        if not copies:
            return self._unharmed(ended, snapshot(self.driver, self._wanted) == after)
        self._reopen(fresh, injection)
        seen = snapshot(self.driver, self._wanted)
        if seen not in (self._before, after):
            said = seen.unreadable or "part of the operation"
            verdict = FaultVerdict("torn", IN_FLIGHT, "it was killed, and part is seen", "", said)
            return self.violation_of(verdict, "killed")
        return self._again(self.driver, call, self._wanted, after, USABLE)

    def _fresh(self) -> Workspace:
        return self._stack.enter_context(fresh_workspace(self.bench.folder, self.bench.target))

    def _reopen(self, fresh: Workspace, injection: Injection) -> None:
        saver = self._stack.enter_context(opened(self.bench.target, fresh, self.bench.loop))
        self._workspace, self._driver = fresh, self.bench.driver(saver, fresh)
        self._folder = f"{os.path.realpath(fresh.path)}/"
        self._faults[len(self._taken) - 1] = injection
        self.injected += 1

    def _note(self, planned: PlannedStep) -> None:
        coming = {} if planned.injection is None else {len(self._taken) - 1: planned.injection}
        self.note(tuple(self._taken), self._faults | coming)

    def _end_outage(
        self, driver: ApiDriver, wanted: Wanted, before: Snapshot
    ) -> ProgramViolation | None:
        """The outage is over: what has failed in it is called again, and works."""
        waiting, self._waiting = self._waiting, []
        if snapshot(driver, wanted) != before:
            return self._violation(LATE, "what failed is stored after the outage", "", "")
        for call in waiting:
            error = call_quietly(partial(self._perform, driver, call))
            if error is not None:
                observed = describe(error)
                return self._violation(USABLE, "a call fails after the outage", "to work", observed)
        return None

    def _step(
        self,
        driver: ApiDriver,
        call: SettledCall,
        injection: Injection | None,
        wanted: Wanted,
        before: Snapshot,
        after: Snapshot,
    ) -> ProgramViolation | None:
        if injection is not None and injection.killed and injection.plan is not None:
            return self._kill_inside(call, injection.plan, injection, after)
        ended = self._do(driver, call, injection)
        said = ended.said
        # Before the saver is asked anything: what it puts off may end with its next call.
        locked = ended.fired and any(map(write_locked, self._databases()))
        seen = snapshot(driver, wanted)
        if not ended.fired:
            right = seen == after or (bool(self._waiting) and seen == before)
            return self._unharmed(ended, right)
        self.injected += 1
        cancelled = injection is not None and injection.kind == "cancellation"
        unusable = CANCELLED if cancelled else USABLE
        if injection is not None and injection.disconnects:
            unusable = LOST_CONNECTION
        if seen.unreadable is not None:
            return self._violation(unusable, "it failed, and reading fails", "", seen.unreadable)
        if ended.returned and seen != after:
            contract = CANCELLED if cancelled else SILENT
            return self._violation(contract, "it returned, and is not stored", "all of it", said)
        if seen not in (before, after):
            contract = CANCELLED if cancelled else WHOLE
            return self._violation(contract, "it failed, and part of it is seen", "nothing", said)
        if locked:
            return self._violation(unusable, "it failed, and nobody else can write", "", said)
        for path in self._databases():
            commit_elsewhere(path)
        if injection == OUTAGE and seen == before:
            self._waiting.append(call)
            return None
        return self._again(driver, call, wanted, after, unusable)

    def _unharmed(self, ended: TrialObservation, right: bool) -> ProgramViolation | None:
        position = len(self._taken) - 1
        if position in self._faults and not self._faults[position].killed:
            del self._faults[position]
        if not ended.returned:
            return self._violation(USABLE, "a step without a fault fails", "to work", ended.said)
        if not right:
            return self._violation(
                LATE, "a step without a fault stores something else", "", ended.said
            )
        return None

    def _again(
        self, driver: ApiDriver, call: SettledCall, wanted: Wanted, after: Snapshot, unusable: str
    ) -> ProgramViolation | None:
        """Something else, which changes nothing here, and then the same call, which works now."""
        seen = snapshot(driver, wanted)
        for other in self._unrelated:
            error = call_quietly(partial(perform, driver, other))
            if error is not None:
                return self._violation(unusable, "an unrelated write fails", "to work", str(error))
        if snapshot(driver, wanted) != seen:
            summary = "it failed, and is stored once something else is"
            late = unusable if unusable != USABLE else LATE
            return self._violation(late, summary, "what was there before", "")
        if seen == after and isinstance(call.step, CopyThread):
            # It is done, and its target holds something now: nobody copies to that again.
            return None
        error = call_quietly(partial(self._perform, driver, call))
        if error is not None:
            return self._violation(
                unusable, "the same call again fails", "to work", describe(error)
            )
        if snapshot(driver, wanted) != after:
            return self._violation(unusable, "the same call again stores something else", "", "")
        return None

    @property
    def _unrelated(self) -> tuple[SettledCall, ...]:
        """What is written to a thread that no program names."""
        assert self._reference is not None
        version = self._reference.saver.get_next_version
        return Calls(lambda current: version(current, None)).settle(unrelated(UNRELATED))

    def _databases(self) -> list[str]:
        """The files that connections of the saver are open to."""
        injector = self.bench.injector
        if injector.engine_unavailable is not None:
            return []
        opened = {os.path.realpath(one.path) for one in injector.watch.connections if one.path}
        return sorted(path for path in opened if path.startswith(self._folder))

    def _do(
        self, driver: ApiDriver, call: SettledCall, injection: Injection | None
    ) -> TrialObservation:
        """Make the call, under the fault if there is one: whether it fired, and how it ended."""
        bench, position = self.bench, len(self._taken) - 1
        bench.calls += 1
        operation = partial(self._perform, driver, call)
        if position == self.counted:
            with bench.injector.counting() as counting:
                seen = undisturbed(bench, operation)
            self.places = counting.places
            return seen
        own = isinstance(call.step, OwnStep)
        if injection is None or (own and injection.kind == "cancellation"):
            # What an author's rule awaits is not known.
            return undisturbed(bench, operation)
        self._faults[position] = injection
        return failed(bench, operation, partial(awaiting, driver, call), injection)

    def _perform(self, driver: ApiDriver, call: SettledCall) -> object:
        """Make a call; what an author's rule tells the model, it tells it once."""
        if not isinstance(call.step, OwnStep):
            return perform(driver, call)
        assert self.own is not None, "a step that nothing can take is not legal"
        model = self.model if driver is self._reference else copy.deepcopy(self.model)
        return self.own.perform(call.step, driver, model)

    def _beside(self, call: SettledCall) -> ProgramViolation | None:
        """Make the call on the saver that is never failed; an author's rule may be broken there."""
        assert self._reference is not None
        error = call_quietly(partial(self._perform, self._reference, call))
        if error is None:
            return None
        if not isinstance(call.step, OwnStep):
            raise error
        return self._own_violation(call.step.contract, error)

    def _invariants(self) -> ProgramViolation | None:
        """The author's invariant that is broken now, if one is."""
        for contract, look in self.own.invariants(self.driver, self.model) if self.own else ():
            if (error := call_quietly(look)) is not None:
                return self._own_violation(contract, error)
        return None

    def _own_violation(self, contract: str, error: BaseException) -> ProgramViolation:
        said = describe(error)
        verdict = FaultVerdict("torn", contract, str(error), "no exception", f"raised {said}")
        return self.violation_of(verdict, said)

    def _objection(self, step: Step) -> str | None:
        if not isinstance(step, OwnStep):
            return None
        return "there is no such rule" if self.own is None else self.own.objection(step, self.model)

    def _open(self, stack: ExitStack) -> tuple[Workspace, Any]:
        bench = self.bench
        workspace = stack.enter_context(fresh_workspace(bench.folder, bench.target))
        return workspace, stack.enter_context(opened(bench.target, workspace, bench.loop))

    def _violation(
        self, contract: str, summary: str, expected: str, observed: str
    ) -> ProgramViolation:
        verdict = FaultVerdict(
            _OUTCOMES[contract], contract, summary, expected or "what the call stores", observed
        )
        return self.violation_of(verdict, observed)

    def hung(self, which: str) -> ProgramViolation:
        """A call never returned, so that this trial was given up."""
        summary = f"after {self.injected} faults, the saver hangs"
        verdict = FaultVerdict("stuck", USABLE, summary, "an answer or an error", which)
        return ProgramViolation(tuple(self._taken), dict(self._faults), verdict, which, hung=True)

    def violation_of(self, verdict: FaultVerdict, ending: str) -> ProgramViolation:
        """What the steps so far came to."""
        databases = tuple(path.removeprefix(self._folder) for path in self._databases())
        program, faults = tuple(self._taken), dict(self._faults)
        return ProgramViolation(program, faults, verdict, ending, databases)
