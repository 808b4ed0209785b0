"""The state machine of faults: operations and faults, each a rule, in any order.

The invariant is that of atomic rollback: what raised has left nothing or all of it, and the saver
works as before. Beside the saver another one takes the same calls without any fault.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NoReturn, Protocol

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.control import currently_in_test_context
from hypothesis.stateful import RuleBasedStateMachine, precondition
from hypothesis.stateful import rule as hypothesis_rule

from saverproof.errors import SaverproofError
from saverproof.execution.storage_errors import room_in
from saverproof.families.atomicity import random_programs
from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.drivers import declared
from saverproof.families.atomicity.family import FAMILY, kinds_of
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.judging import USABLE, FaultVerdict
from saverproof.families.atomicity.random_programs import (
    OUTAGE,
    WATCHED,
    DrawnSteps,
    FaultMaker,
    PlannedStep,
    RecordedSteps,
    StepSource,
    fault_theme,
)
from saverproof.families.atomicity.random_shrinking import places_of, shortest_program
from saverproof.families.atomicity.random_trial import ProgramViolation, RandomTrial
from saverproof.families.atomicity.replay import read_random
from saverproof.families.atomicity.reporting import ShrunkViolation, finding_of_random
from saverproof.families.atomicity.worker import UnansweredError
from saverproof.items import Finding, ItemPlan
from saverproof.machines.broken import ContractBroken, told
from saverproof.machines.known_failures import database
from saverproof.machines.machine import target_of
from saverproof.machines.rules import CHOICES, install, step_rule
from saverproof.machines.survey import survey
from saverproof.model.store import Model
from saverproof.programs.legality import objection
from saverproof.programs.makers import batches, checkpoints, whole_threads
from saverproof.programs.theme import Maker, Theme
from saverproof.steps.definitions import Program, Step
from saverproof.targets.event_loop import loop_for

_LENGTH = 24
"""Calls in a program of the random driver, which has its faults beside them."""
_STEPS = 40
"""Rules in a program of Hypothesis, many of which are faults."""
_OUTAGES = 0.2
_OUTAGE_CALLS = 3
"""How many calls an outage lasts, if it does not end before."""
_EVERYTHING = frozenset({"delete_thread", "copy_thread", "prune"})


class FailsCalls(Protocol):
    """A machine that fails its next call."""

    def fail_next(self, maker: FaultMaker, choose: Random) -> None:
        """Fail the next call as the maker says."""
        ...

    def can_fail(self, kind: str) -> bool:
        """Whether the next call can be failed in such a way."""
        ...


def fault_rule(maker: FaultMaker, kind: str = "client") -> Callable[..., None]:
    """A rule that fails the next call; bind it to a class attribute.

    ``maker`` is given a ``random.Random`` and makes the fault. ``kind`` is what it needs: "client"
    (a driver whose calls are seen), "engine" (SQLite), "disk", "cancel", "connection", "kill".
    """

    def fail(self: FailsCalls, choose: Random) -> None:
        __tracebackhide__ = True
        self.fail_next(maker, choose)

    def can(self: FailsCalls) -> bool:
        return self.can_fail(kind)

    fail.__doc__ = maker.__doc__
    fail.__name__ = maker.__name__
    ruled: Callable[..., None] = precondition(can)(hypothesis_rule(choose=CHOICES)(fail))
    return ruled


class AtomicityMachine(RuleBasedStateMachine):
    """Mixes operations with faults; subclass it to name a target, and to add faults.

    ::

        class Faulty(AtomicityMachine):
            target = my_saver

        TestFaulty = Faulty.TestCase

    Attributes:
        target: the saver's target, or the function that opens it.
        api: "sync" or "async", through which it is called.
        contracts: the ids of the contracts of atomicity to be enforced; empty for all.
        examples: programs that are taken before any is made, as artefacts have them.

    Raises:
        ContractBroken: the saver broke an enforced contract.
    """

    target: ClassVar[Any]
    api: ClassVar[str] = "sync"
    contracts: ClassVar[frozenset[str]] = frozenset()
    examples: ClassVar[tuple[Any, ...]] = ()
    _plan: ClassVar[ItemPlan | None] = None
    _found: ClassVar[dict[str, tuple[Finding, Program]]] = {}
    _again: ClassVar[str | None] = None

    put = step_rule(checkpoints.put)
    put_replacing = step_rule(checkpoints.put_replacing)
    writes = step_rule(batches.writes)
    writes_again = step_rule(batches.writes_again)
    writes_special = step_rule(batches.writes_special)
    delete_thread = step_rule(whole_threads.delete_thread)
    copy_thread = step_rule(whole_threads.copy_thread)
    prune = step_rule(whole_threads.prune_to_latest)

    a_statement_fails = fault_rule(random_programs.statement_fails)
    an_early_statement_fails = fault_rule(random_programs.early_statement_fails)
    a_commit_fails = fault_rule(random_programs.commit_fails)
    the_engine_refuses = fault_rule(random_programs.engine_refuses, "engine")
    the_disk_fails = fault_rule(random_programs.disk_fails, "disk")
    the_disk_is_full = fault_rule(random_programs.disk_is_full, "disk")
    the_call_is_cancelled = fault_rule(random_programs.call_is_cancelled, "cancel")
    the_connection_is_lost = fault_rule(random_programs.connection_is_lost, "connection")
    the_process_is_killed = fault_rule(random_programs.process_is_killed, "kill")

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        cls._plan, cls._found, cls._again = None, {}, None
        install(cls, [fault_theme(_EVERYTHING)])
        cls.TestCase.settings = hypothesis.settings(
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[each for each in Phase if each not in (Phase.shrink, Phase.explain)],
            stateful_step_count=_STEPS,
            verbosity=Verbosity.quiet,
        )

    def __init__(self) -> None:
        super().__init__()
        self._next: Injection | None = None
        self._outage = 0
        self._over = False
        self._resources = ExitStack()
        try:
            self._open()
        except BaseException:
            self._resources.close()
            raise

    def _open(self) -> None:
        cls = type(self)
        folder = self._resources.enter_context(_folder())
        is_first = cls._plan is None
        cls._plan = cls._plan or _plan_of(cls, folder)
        self._bench = self._resources.enter_context(_bench(cls, folder))
        self._kinds = kinds_of(self._bench)
        able = cls._plan.facts["operations"][cls.api]
        self.theme: Theme = fault_theme(able)
        if is_first:
            cls._try_given(self._bench)
        if cls._again is not None:
            cls._fail(cls._again)
        self._trial = RandomTrial(self._bench, _Asked())
        self._bench.on_worker(self._trial.__enter__)
        self._worker = self._bench.worker

    @property
    def model(self) -> Model:
        """What a saver holds of which no call failed."""
        return self._trial.model

    # --- rules -----------------------------------------------------------------------------

    def asks(self, maker: Maker) -> bool:
        """Whether the saver has the operation that the maker's steps call."""
        return maker in self.theme.weights

    def make(self, maker: Maker, choose: Random) -> None:
        """Take a step that a maker makes, if it has one for this moment."""
        __tracebackhide__ = True
        step = maker(self.model, choose, self.theme)
        if step is not None and objection(step, self.model) is None:
            self.take(step)

    def can_fail(self, kind: str) -> bool:
        """Whether the next call can be failed in such a way."""
        return kind in self._kinds and self._next is None and not self._outage

    def fail_next(self, maker: FaultMaker, choose: Random) -> None:
        """Fail the next call as a maker says."""
        self._next = maker(choose)

    @precondition(lambda self: self.can_fail("client"))
    @hypothesis_rule(choose=CHOICES)
    def an_outage_begins(self, choose: Random) -> None:
        """The next calls fail, one after the other."""
        # All rules are as likely, and this one takes the place of several faults.
        if choose.random() < _OUTAGES:
            self._outage = _OUTAGE_CALLS

    @precondition(lambda self: self._outage > 0)
    @hypothesis_rule()
    def the_outage_ends(self) -> None:
        """Calls work again; those that failed are made once more."""
        __tracebackhide__ = True
        self._outage = 0
        self._ask(lambda: self._trial.finish())

    def take(self, step: Step) -> None:
        """Call the saver, under the fault that comes next if there is one, and judge it."""
        __tracebackhide__ = True
        injection, self._next = OUTAGE if self._outage else self._next, None
        self._outage = max(self._outage - 1, 0)
        self._ask(lambda: self._trial.take(PlannedStep(step, injection)))

    def teardown(self) -> None:
        """End an outage, close the saver, and heal what is left of a fault."""
        try:
            if not self._over:
                self._ask(lambda: self._trial.finish())
                if currently_in_test_context():
                    hypothesis.target(float(self._trial.injected), label="faults that fired")
        finally:
            # A worker that was given up has its saver's connections, which no other may close.
            if self._worker is self._bench.worker:
                with suppress(SaverproofError, UnansweredError):
                    self._bench.on_worker(lambda: self._trial.__exit__())
            self._resources.close()

    # --- judging ---------------------------------------------------------------------------

    def _ask(self, work: Callable[[], ProgramViolation | None]) -> None:
        """Have the worker do it, and raise if what it shows breaks an enforced contract."""
        __tracebackhide__ = True
        if self._over:
            return
        violation = _answered(self._bench, self._trial, work)
        if violation is None:
            return
        self._over = True
        contract = type(self)._keep(self._bench, violation)
        if contract is not None:
            type(self)._fail(contract)

    @classmethod
    def search(cls, *, programs: int = 200, seed: int = 0) -> None:
        """Have the random driver make programs.

        Raises:
            ContractBroken: the saver broke an enforced contract.
        """
        with _folder() as folder:
            plan = cls._plan = cls._plan or _plan_of(cls, folder)
            able = frozenset(plan.facts["operations"][cls.api])
            with _bench(cls, folder) as bench:
                for number in range(programs):
                    choose = Random(f"{seed}:{number}")
                    source = DrawnSteps(choose, able, _LENGTH, kinds_of(bench))
                    trial = RandomTrial(bench, source)
                    violation = _answered(bench, trial, trial.run)
                    if violation is None:
                        continue
                    if (contract := cls._keep(bench, violation)) is not None:
                        cls._fail(contract)

    @classmethod
    def _try_given(cls, bench: FaultBench) -> None:
        """Take the author's programs, and those in the example database."""
        kept = database()
        known = sorted(kept.fetch(cls._key())) if kept is not None else []
        for data in (*cls.examples, *map(json.loads, known)):
            trial = RandomTrial(bench, RecordedSteps(*read_random(data)))
            violation = _answered(bench, trial, trial.run)
            cls._again = None if violation is None else cls._keep(bench, violation)
            if cls._again is not None:
                return
            if kept is not None:
                kept.delete(cls._key(), _as_bytes(data))

    @classmethod
    def _keep(cls, bench: FaultBench, violation: ProgramViolation) -> str | None:
        """Make a violation short, and put it into words; the contract, if it is enforced."""
        contract = str(violation.verdict.contract)
        if cls.contracts and contract not in cls.contracts:
            return None
        if contract not in cls._found:
            assert cls._plan is not None
            shown = _shrunk(bench, violation)
            shortest = shown.violation
            found = finding_of_random(cls._plan, target_of(cls), shown)
            cls._found[contract] = found, shortest.program
            if (kept := database()) is not None:
                kept.save(cls._key(), _as_bytes(found.program))
        return contract

    @classmethod
    def _fail(cls, contract: str) -> NoReturn:
        """The one place where machines fail: Hypothesis tells failures apart by it."""
        __tracebackhide__ = True
        found, program = cls._found[contract]
        raise ContractBroken(told(found, target_of(cls).name), program, found)

    @classmethod
    def _key(cls) -> bytes:
        return f"saverproof:{cls.__module__}.{cls.__qualname__}".encode()


class _Asked(StepSource):
    """Steps come one by one, from whoever asks the trial to take them."""

    threads: tuple[str, ...] = WATCHED

    def planned(self, number: int, model: Model) -> PlannedStep | None:
        """There is none until one is taken."""
        return None


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="saverproof-"))
    try:
        with room_in(str(folder)):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _bench(machine: type[AtomicityMachine], folder: Path) -> Iterator[FaultBench]:
    target, plan = target_of(machine), machine._plan
    assert plan is not None
    drivers, _ = declared(target)
    here = ItemPlan(plan.target, plan.facts, FAMILY, plan.api, plan.profile, 0, str(folder))
    with FaultBench.opened(here, target, drivers) as bench:
        yield bench


def _plan_of(machine: type[AtomicityMachine], folder: Path) -> ItemPlan:
    """What judging has to know of the saver."""
    with loop_for("crossed") as loop:
        facts = survey(target_of(machine), folder, loop).facts
    return ItemPlan({}, facts, FAMILY, machine.api, "quick", 0, str(folder))


def _shrunk(bench: FaultBench, violation: ProgramViolation) -> ShrunkViolation:
    """The violation by the shortest program; to wait for a call again and again takes too long."""
    if violation.verdict.summary == _UNANSWERED:
        return ShrunkViolation(violation, {})
    shortest = shortest_program(bench, violation)
    return ShrunkViolation(shortest, {at: places_of(bench, shortest, at) for at in shortest.faults})


_UNANSWERED = "a call is never answered"


def _answered(
    bench: FaultBench, trial: RandomTrial, work: Callable[[], ProgramViolation | None]
) -> ProgramViolation | None:
    """What the work shows; that a call is never answered, if that is so."""
    try:
        return bench.on_worker(work)
    except UnansweredError as problem:
        bench.renew()
        text = str(problem)
        verdict = FaultVerdict("stuck", USABLE, _UNANSWERED, "an answer", text)
        return trial.violation_of(verdict, text)


def _as_bytes(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True).encode("ascii")


install(AtomicityMachine, [fault_theme(_EVERYTHING)])
