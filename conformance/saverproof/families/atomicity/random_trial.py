"""Programs in which faults are steps among the others.

Beside the saver under test another one, on a workspace of its own, takes the same calls without any
fault. What the first shows after a call that failed is what the second shows without that call or
with it; then the call is made again, and both go on from the same state. In an outage every call
fails, and leaves nothing; when it is over, all of them are made again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from saverproof.errors import describe
from saverproof.execution.driver import ApiDriver
from saverproof.execution.settled_calls import Calls, SettledCall, awaiting, perform
from saverproof.execution.view import Snapshot, Wanted, snapshot
from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.disk import FAILURES
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.injection import cancel
from saverproof.families.atomicity.judging import (
    CANCELLED,
    LATE,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
)
from saverproof.families.atomicity.observation import TrialObservation
from saverproof.families.atomicity.random_programs import OUTAGE, PlannedStep, StepSource
from saverproof.families.atomicity.worker import call_quietly
from saverproof.steps.definitions import Program, Step
from saverproof.targets.opening import fresh_workspace, opened
from saverproof_faults import Fault, Places, commit_elsewhere, write_locked

_OUTCOMES = {WHOLE: "torn", SILENT: "lost", LATE: "late", USABLE: "stuck", CANCELLED: "torn"}


@dataclass(frozen=True, slots=True)
class ProgramViolation:
    """What a random program came to: its steps, the fault of each that had one, and the verdict.

    ``databases`` are the SQLite files of its store, relative to the workspace.
    """

    program: Program
    faults: dict[int, Injection]
    verdict: FaultVerdict
    ending: str
    databases: tuple[str, ...] = ()


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
    places: Places = field(default_factory=Places)
    injected: int = 0
    _taken: list[Step] = field(default_factory=list)
    _faults: dict[int, Injection] = field(default_factory=dict)
    _waiting: list[SettledCall] = field(default_factory=list)
    """The calls that failed in the outage."""
    _folder: str = ""

    def run(self) -> ProgramViolation | None:
        """Take the steps; gives what went wrong, if anything did."""
        wanted = Wanted((), self.source.threads)
        with self._saver() as (saver, driver), self._saver() as (_, reference):
            calls = Calls(lambda current: saver.get_next_version(current, None))
            before = snapshot(reference, wanted)
            while (planned := self.source.planned(len(self._taken), calls.model)) is not None:
                (call,) = calls.settle((planned.step,))
                self._taken.append(planned.step)
                self._note(planned)
                self.bench.worker.say(f"step {len(self._taken)} of a random program")
                perform(reference, call)
                after = snapshot(reference, wanted)
                violation = None
                if planned.injection != OUTAGE:
                    violation = self._end_outage(driver, wanted, before)
                if violation is None:
                    violation = self._step(driver, call, planned.injection, wanted, before, after)
                if violation is not None:
                    return violation
                if not self._waiting:
                    before = after
            return self._end_outage(driver, wanted, before)

    def _note(self, planned: PlannedStep) -> None:
        coming = {} if planned.injection is None else {len(self._taken) - 1: planned.injection}
        self.note(tuple(self._taken), self._faults | coming)

    def _end_outage(
        self, driver: ApiDriver, wanted: Wanted, before: Snapshot
    ) -> ProgramViolation | None:
        """The outage is over: what has failed in it is called again, and works."""
        if not self._waiting:
            return None
        waiting, self._waiting = self._waiting, []
        if snapshot(driver, wanted) != before:
            return self._violation(LATE, "what failed is stored after the outage", "", "")
        for call in waiting:
            error = call_quietly(partial(perform, driver, call))
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
        ended = self._do(driver, call, injection)
        said = ended.said
        seen = snapshot(driver, wanted)
        if not ended.fired:
            right = seen == after or (bool(self._waiting) and seen == before)
            return self._unharmed(ended, right)
        self.injected += 1
        cancelled = injection is not None and injection.kind == "cancellation"
        if ended.returned and seen != after:
            contract = CANCELLED if cancelled else SILENT
            return self._violation(contract, "it returned, and is not stored", "all of it", said)
        if seen not in (before, after):
            contract = CANCELLED if cancelled else WHOLE
            return self._violation(contract, "it failed, and part of it is seen", "nothing", said)
        unusable = CANCELLED if cancelled else USABLE
        for path in self._databases():
            if write_locked(path):
                return self._violation(unusable, "it failed, and nobody else can write", "", said)
            commit_elsewhere(path)
        if injection == OUTAGE and seen == before:
            self._waiting.append(call)
            return None
        return self._again(driver, call, wanted, after, unusable)

    def _unharmed(self, ended: TrialObservation, right: bool) -> ProgramViolation | None:
        self._faults.pop(len(self._taken) - 1, None)
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
        """The same call, which works now."""
        error = call_quietly(lambda: perform(driver, call))
        if error is not None:
            return self._violation(
                unusable, "the same call again fails", "to work", describe(error)
            )
        if snapshot(driver, wanted) != after:
            return self._violation(unusable, "the same call again stores something else", "", "")
        return None

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
        seen = TrialObservation()
        bench, position = self.bench, len(self._taken) - 1
        bench.calls += 1
        plan = None if injection is None else injection.plan
        if position == self.counted:
            with bench.injector.counting() as counting:
                self._make(driver, call, seen)
            self.places = counting.places
            return seen
        if plan is None or injection is None:
            seen.ended(call_quietly(lambda: perform(driver, call)))
            return seen
        self._faults[position] = injection
        if plan.fault is Fault.CANCEL:
            cancel(bench, awaiting(driver, call), plan, seen)
        elif plan.fault in FAILURES:
            assert bench.disk is not None
            with bench.disk.failing(plan):
                self._make(driver, call, seen)
            seen.fired = bool(bench.disk.fired)
        else:
            with bench.injector.armed(plan) as shot:
                self._make(driver, call, seen)
            seen.fired = shot.fired > 0
        return seen

    def _make(self, driver: ApiDriver, call: SettledCall, seen: TrialObservation) -> None:
        seen.ended(call_quietly(lambda: perform(driver, call)))
        self.bench.loop.run(self.bench.injector.drain())

    @contextmanager
    def _saver(self) -> Iterator[tuple[Any, ApiDriver]]:
        bench = self.bench
        with ExitStack() as stack:
            workspace = stack.enter_context(fresh_workspace(bench.folder, bench.target))
            self._folder = self._folder or f"{os.path.realpath(workspace.path)}/"
            saver = stack.enter_context(opened(bench.target, workspace, bench.loop))
            yield saver, bench.driver(saver)

    def _violation(
        self, contract: str, summary: str, expected: str, observed: str
    ) -> ProgramViolation:
        verdict = FaultVerdict(
            _OUTCOMES[contract], contract, summary, expected or "what the call stores", observed
        )
        databases = tuple(path.removeprefix(self._folder) for path in self._databases())
        program, faults = tuple(self._taken), dict(self._faults)
        return ProgramViolation(program, faults, verdict, observed, databases)
