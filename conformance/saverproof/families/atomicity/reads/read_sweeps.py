"""Makes reads under faults, and records what each of them answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace

from saverproof.errors import NoCleanRunError
from saverproof.families.atomicity.fault_plans import (
    LOCKED_OUT,
    SESSIONS_ENDED,
    Injection,
    injections,
    lasting,
)
from saverproof.families.atomicity.scenarios import HISTORY, FaultScenario
from saverproof.families.atomicity.scripts.failed_read_scripts import FailedRead
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.counting import counting_places
from saverproof.families.atomicity.trials.injection import inject
from saverproof.families.atomicity.trials.observation import TrialObservation
from saverproof.families.atomicity.trials.prepared_store import PreparedStore, placed, prepared
from saverproof.families.atomicity.trials.trial import FaultTrial
from saverproof.families.atomicity.trials.worker import HungError, call_quietly
from saverproof.programs import small
from saverproof.programs.small import THREAD
from saverproof.programs.steps.definitions import GetTuple, ListTuples
from saverproof.savers.execution.settled_calls import awaiting, perform
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof.savers.execution.view import canonical, facts_of
from saverproof.savers.targets.calling import BETWEEN_ITEMS
from saverproof.savers.targets.opening import opened
from saverproof.savers.workspace import Workspace
from saverproof_faults import Event, Fault, Lasts, Places, Plan, count_awaits
from saverproof_faults.plan import LOCKED, OPERATIONAL
from saverproof_faults.sqlite.locking import LockingProcess

READS = {GetTuple: "get_tuple", ListTuples: "list"}
"""The method, by its name in the sync API, that a reading step calls."""
LASTING = frozenset({Fault.SILENCE, LOCKED_OUT})
"""Failures that last for as long as the saver waits."""
_HARMLESS = frozenset({Event.BEGIN, Event.COMMIT, Event.ROLLBACK, Event.TRANSACTION})
"""Events of a read before it asks the store, or once it has its answer."""
TIMEOUT = "TimeoutError"
"""The builtin, or the driver's own where it has one of that name."""
_NOT_TOLD = frozenset({Fault.SILENCE, Fault.IO_SHORT})
"""Faults of which the saver is not told: no answer comes, or fewer bytes than it asked for."""


@dataclass(frozen=True, slots=True)
class ReadScenario(FaultScenario):
    """A read on a store in a known state."""

    @property
    def operation(self) -> str:
        """The name of the saver's method, without the async API's "a"."""
        return READS[type(self.step)]


SCENARIOS = tuple(
    ReadScenario(title, start, read, frozenset({READS[type(read)]}))
    for title, start in (("a checkpoint with writes", small.WRITES), ("a history", HISTORY))
    for read in (GetTuple(THREAD), ListTuples(THREAD))
)
"""The scenarios, the one with the smallest store first: the report takes the first that shows a
breach.
"""


@dataclass(slots=True)
class ReadTrial(FaultTrial):
    """One read under a fault, by a saver that was opened for it.

    ``clean`` is the answer without a fault, if it is known. If the read's answer is another one,
    ``lost`` says whether a saver that is opened afterwards gives a wrong answer as well. In that
    case a write was put off until the read, and failed.
    """

    clean: list[str] | None = None
    lost: bool = False

    def run(self, operate: Callable[[FaultTrial], None]) -> TrialObservation:
        """Open the saver on a copy of the store, and read with ``operate``."""
        there = placed(self.store, self.bench.target, self.bench.folder)
        with there as workspace, ExitStack() as stack:
            self._begin(stack, workspace)
            operate(self)
            self._close(stack)
            wrong = self.clean is not None and self.observation.returned
            if wrong and self.bench.target.durable and self.answered != self.clean:
                self._read_again(workspace)
        return self.observation

    def _read_again(self, workspace: Workspace) -> None:
        self.bench.worker.say("reading by a fresh saver")
        with opened(self.bench.target, workspace, self.bench.loop) as saver:
            driver = self.bench.driver(saver, workspace)
            self.answer, answer = perform(driver, self.store.settled.operation), self.answer
        self.lost, self.answer = self.answered != self.clean, answer

    def read_locked_out(self, locking: LockingProcess) -> None:
        """Read while another process has the store's SQLite files for itself."""
        self.observation.fired = locking.lock(sqlite_files(self.workspace.path))
        self.observation.ended(call_quietly(self.operation))
        locking.unlock()

    def read(self) -> tuple[Plan, ...]:
        """Read without a fault, and return every cancellation that can strike the read."""
        if self.bench.api != "async":
            self.observation.ended(call_quietly(self.operation))
            return ()
        operation = awaiting(self.driver, self.store.settled.operation)
        clean = self.bench.loop.run(count_awaits(operation))
        self.observation.ended(clean.error)
        self.answer = clean.value
        # A fault in the consumer's own work between two items cannot make a read answer wrongly.
        return tuple(plan for plan in clean.plans() if plan.about != BETWEEN_ITEMS)

    @property
    def answered(self) -> list[str]:
        """Return the facts of the answer, in its order."""
        found = self.answer if isinstance(self.answer, list) else [self.answer]
        return [canonical(facts_of(each)) for each in found if each is not None]


@dataclass(slots=True)
class ReadSweep:
    """One scenario: its store, its clean run, and the faults to inject."""

    bench: FaultBench
    scenario: ReadScenario
    store: PreparedStore
    clean: list[str]
    read: FailedRead
    injections: list[Injection]
    silences: list[Injection]
    """Messages that are never answered, which takes as long as the saver waits."""

    @classmethod
    def of(cls, bench: FaultBench, scenario: ReadScenario, stack: ExitStack) -> ReadSweep:
        """Prepare a scenario, and read without a fault, on the worker's thread.

        Raises:
            NoCleanRunError: the read does not work without a fault either.
            OpeningError: the saver could not be opened or closed.
        """
        store = stack.enter_context(prepared(scenario, bench))
        trial = ReadTrial(bench, scenario, store, TrialObservation())
        found_files = () if store.folder is None else sqlite_files(store.folder)
        files = tuple(path.relative_to(str(store.folder)).as_posix() for path in found_files)
        read = FailedRead(scenario.start, scenario.step, store.databases, files)

        def counted(_: FaultTrial) -> None:
            where = (trial.workspace.path.name, store.databases)
            with counting_places(bench, *where, writes=False) as found:
                read.cancellations = trial.read()
                trial.settle()
            read.places = found.places

        observation = trial.run(counted)
        if not observation.returned:
            raise NoCleanRunError(f"{scenario.operation}: {observation.error}")
        if not trial.answered:
            raise NoCleanRunError(f"{scenario.operation}: it finds nothing")
        found = injections(read.places, read.cancellations, 0)
        once = [each for each in found if _is_told(each)]
        once += [*_said_otherwise(once, read.places)]
        once += [Injection()] if bench.losing else []
        once += [SESSIONS_ENDED] if bench.server is not None else []
        # A saver that asks again gets the same error again.
        onwards = [each for each in lasting(once, ()) if goes_on(each)]
        silences = [each for each in found if each.name == Fault.SILENCE]
        return cls(bench, scenario, store, trial.answered, read, [*once, *onwards], silences)

    def answer_under(self, injection: Injection) -> ReadAnswer:
        """Read under a fault, and return the answer.

        Raises:
            SlowError: the call took so long that nothing can be said.
            OpeningError: the saver could not be opened or closed.
        """
        trial = ReadTrial(self.bench, self.scenario, self.store, TrialObservation())
        trial.clean = self.clean
        with LockingProcess() if injection.locked_out else nullcontext() as locking:
            return self._answer(trial, injection, locking)

    def _answer(
        self, trial: ReadTrial, injection: Injection, locking: LockingProcess | None
    ) -> ReadAnswer:
        def fail(_: FaultTrial) -> None:
            if locking is None:
                inject(trial, injection)
            else:
                trial.read_locked_out(locking)

        try:
            self.bench.on_worker(lambda: trial.run(fail))
        except HungError:
            fired = trial.observation.fired or trial.observation.has_fired()
            self.bench.renew()
            # A saver that waits for a storage which goes on failing may be right to do so.
            waits = goes_on(injection) or injection.name in LASTING
            return ReadAnswer(fired, fired and not waits, "never returned", hung=True)
        observation = trial.observation
        wrong = observation.fired and observation.returned and trial.answered != self.clean
        if wrong and trial.lost:
            return ReadAnswer(observation.fired, lost=True)
        return ReadAnswer(observation.fired, wrong, f"returned {_told(trial)}" if wrong else "")


def _is_told(injection: Injection) -> bool:
    """Return whether the saver is told of the failure before it has its answer."""
    plan = injection.plan
    return plan is not None and plan.fault not in _NOT_TOLD and plan.place.event not in _HARMLESS


def _said_otherwise(once: Sequence[Injection], places: Places) -> Iterator[Injection]:
    """Yield the failing statements once more, with the error of a storage that is busy for too
    long: a saver may treat this error in a special way.
    """
    error = LOCKED if places.statements else TIMEOUT
    for injection in once:
        plan = injection.plan
        if plan is None or plan.fault is not Fault.RAISE or plan.place.event is not Event.STATEMENT:
            continue
        if error == TIMEOUT or plan.error == OPERATIONAL:
            yield Injection(replace(plan, error=error))


def goes_on(injection: Injection) -> bool:
    """Return whether the fault strikes from its place onwards."""
    return injection.plan is not None and injection.plan.lasts is Lasts.ONWARDS


def _told(trial: ReadTrial) -> str:
    """Return the answer in words."""
    if trial.answer is None:
        return "None"
    if not isinstance(trial.answer, list):
        return "another checkpoint, or another content"
    shown = len(trial.answer)
    return f"{shown} {'checkpoint' if shown == 1 else 'checkpoints'}"


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The result of a read under a fault.

    ``fired`` says whether the fault struck, ``wrong`` whether the answer differs from the one
    without a fault, or never came. ``said`` is the answer in words; ``hung`` says that the read
    never returned. ``lost`` says that the store no longer has what the read should have found.
    """

    fired: bool
    wrong: bool = False
    said: str = ""
    hung: bool = False
    lost: bool = False
