"""Judges reads that fail or are cancelled: a saver must not answer that nothing is there when it
could not read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from saverproof.errors import NoCleanRunError, OpeningError
from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.counting import counting_places
from saverproof.families.atomicity.failed_read_scripts import FailedRead, reproducer
from saverproof.families.atomicity.fault_plans import (
    SESSIONS_ENDED,
    Injection,
    covering,
    injections,
    lasting,
    thinned,
)
from saverproof.families.atomicity.injection import inject
from saverproof.families.atomicity.observation import TrialObservation
from saverproof.families.atomicity.prepared_store import PreparedStore, placed, prepared
from saverproof.families.atomicity.record import FaultRecord
from saverproof.families.atomicity.scenarios import HISTORY, FaultScenario
from saverproof.families.atomicity.trial import FaultTrial
from saverproof.families.atomicity.verdicts import READS_RAISE
from saverproof.families.atomicity.worker import HungError, SlowError, UnansweredError, call_quietly
from saverproof.families.items import Finding, ItemPlan
from saverproof.programs import small
from saverproof.programs.small import THREAD
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.definitions import GetTuple, ListTuples
from saverproof.programs.steps.describing import describe
from saverproof.savers.execution.settled_calls import awaiting
from saverproof.savers.execution.view import canonical, facts_of
from saverproof.savers.targets.target import Target
from saverproof_faults import Event, Fault, Lasts, Places, Plan, count_awaits
from saverproof_faults.plan import LOCKED, OPERATIONAL

READS = {GetTuple: "get_tuple", ListTuples: "list"}
"""The method, by its name in the sync API, that a reading step calls."""
_HARMLESS = frozenset({Event.BEGIN, Event.COMMIT, Event.ROLLBACK, Event.TRANSACTION})
"""Events of a read before it asks the store, or once it has its answer."""
TIMEOUT = "TimeoutError"
"""The builtin, or the driver's own where it has one of that name."""
_NOT_TOLD = frozenset({Fault.SILENCE, Fault.IO_SHORT})
"""Faults of which the saver is not told: no answer comes, or fewer bytes than it asked for."""
_NOTHING_ASKED = (
    "no read was seen to ask the storage for anything that could be refused: it is answered from "
    "memory, from a file that is mapped into it, or by what no layer of the kit sees"
)
_WIDTH = 500


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


class ReadTrial(FaultTrial):
    """One read under a fault, by a saver that was opened for it. No later look is taken."""

    def run(self, operate: Callable[[FaultTrial], None]) -> TrialObservation:
        """Open the saver on a copy of the store, and read with ``operate``."""
        there = placed(self.store, self.bench.target, self.bench.folder)
        with there as workspace, ExitStack() as stack:
            self._begin(stack, workspace)
            operate(self)
            self._close(stack)
        return self.observation

    def read(self) -> tuple[Plan, ...]:
        """Read without a fault, and return every cancellation that can strike the read."""
        if self.bench.api != "async":
            self.observation.ended(call_quietly(self.operation))
            return ()
        operation = awaiting(self.driver, self.store.settled.operation)
        clean = self.bench.loop.run(count_awaits(operation))
        self.observation.ended(clean.error)
        self.answer = clean.value
        return clean.plans()

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
        read = FailedRead(scenario.start, scenario.step, store.databases)

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
        # Whoever asks again, some times, is told again.
        onwards = [each for each in lasting(once, ()) if _goes_on(each)]
        silences = [each for each in found if each.name == Fault.SILENCE]
        return cls(bench, scenario, store, trial.answered, read, [*once, *onwards], silences)

    def answer_under(self, injection: Injection) -> ReadAnswer:
        """Read under a fault, and return the answer.

        Raises:
            SlowError: the call took so long that nothing can be said.
            OpeningError: the saver could not be opened or closed.
        """
        trial = ReadTrial(self.bench, self.scenario, self.store, TrialObservation())
        try:
            self.bench.on_worker(lambda: trial.run(lambda each: inject(each, injection)))
        except HungError:
            fired = trial.observation.fired or trial.observation.has_fired()
            self.bench.renew()
            # Whoever waits for a storage that goes on failing may be right to wait.
            waits = _goes_on(injection) or injection.name == Fault.SILENCE
            return ReadAnswer(fired, fired and not waits, "never returned", hung=True)
        observation = trial.observation
        wrong = observation.fired and observation.returned and trial.answered != self.clean
        return ReadAnswer(observation.fired, wrong, f"returned {_told(trial)}" if wrong else "")


def _is_told(injection: Injection) -> bool:
    """Return whether the saver learns of the failure before it has its answer."""
    plan = injection.plan
    return plan is not None and plan.fault not in _NOT_TOLD and plan.place.event not in _HARMLESS


def _said_otherwise(once: Sequence[Injection], places: Places) -> Iterator[Injection]:
    """Yield failing statements with the exception of a storage that is busy for too long: a saver
    may treat it as a case of its own.
    """
    error = LOCKED if places.statements else TIMEOUT
    for injection in once:
        plan = injection.plan
        if plan is None or plan.fault is not Fault.RAISE or plan.place.event is not Event.STATEMENT:
            continue
        if error == TIMEOUT or plan.error == OPERATIONAL:
            yield Injection(replace(plan, error=error))


def _sort_of(injection: Injection) -> tuple[str, str]:
    """Return the sort of a failure, of each of which at least one is tried."""
    return injection.name, "" if injection.plan is None else injection.plan.error


def _goes_on(injection: Injection) -> bool:
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
    never returned.
    """

    fired: bool
    wrong: bool = False
    said: str = ""
    hung: bool = False


@dataclass(slots=True)
class FailedReads:
    """Judges the failed reads of one plan."""

    plan: ItemPlan
    target: Target
    record: FaultRecord
    bench: FaultBench
    able: frozenset[str]
    """The saver's capabilities."""
    silences: int
    """How often a server does not answer a read, on each store."""
    _shown: dict[str, Finding] = field(default_factory=dict)
    """The plainest wrong answer of each operation."""
    _asked: bool = False

    def run(self, most: int) -> None:
        """Make at most ``most`` failed reads of each operation on each store, evenly spread."""
        tally = self.record.tally
        if READS_RAISE not in tally.wanted:
            return
        with ExitStack() as stack:
            for scenario in SCENARIOS:
                if not scenario.needs <= self.able:
                    continue
                try:
                    made = self.bench.on_worker(partial(ReadSweep.of, self.bench, scenario, stack))
                    self._sweep(made, most)
                except NoCleanRunError as problem:
                    why = f"a read does not work without faults either: {problem}"
                    tally.not_answered((READS_RAISE,), why)
                except (OpeningError, UnansweredError) as problem:
                    tally.unsure((READS_RAISE,), f"a read could not be failed: {problem}")
                    if isinstance(problem, UnansweredError):
                        self.bench.renew()
        if not self._asked:
            tally.not_exercised([READS_RAISE], _NOTHING_ASKED)
        self._tell()

    def _sweep(self, sweep: ReadSweep, most: int) -> None:
        operation, tally = sweep.scenario.operation, self.record.tally
        self._asked |= bool(sweep.injections)
        chosen = covering(sweep.injections, most, _sort_of)
        chosen += thinned(sweep.silences, self.silences)
        for injection in tally.budget.within(chosen, "failed reads"):
            if operation in self._shown:
                return
            answer = sweep.answer_under(injection)
            self.record.beat(self.bench.calls)
            if answer.hung and injection.name == Fault.SILENCE:
                # It has no limit to how long it waits, and would each time.
                self.silences = 0
                return
            if answer.hung and not answer.wrong:
                tally.unsure((READS_RAISE,), f"{operation} hangs: {injection.describe()}")
                return
            if answer.fired:
                self.record.tried_read()
            if answer.wrong:
                self._keep(READS_RAISE)
                self._shown[operation] = self._finding(sweep, injection, answer)

    def _keep(self, name: str) -> None:
        self.record.tally.differences.note(name)

    def _tell(self) -> None:
        """Report one finding for all operations, since a saver reads with the same lines in
        each.
        """
        if not self._shown:
            return
        first, *others = self._shown
        found = self._shown[first]
        also = f"; likewise {', '.join(others)}" if others else ""
        self.record.tally.findings.append(replace(found, summary=found.summary + also))

    def _finding(self, sweep: ReadSweep, injection: Injection, answer: ReadAnswer) -> Finding:
        scenario = sweep.scenario
        return Finding(
            contract=READS_RAISE,
            api=self.plan.api,
            phase="fault",
            summary=f"{scenario.operation} ({scenario.title}): {_summary(injection, answer)}",
            expected=_EXPECTED,
            observed=f"it {answer.said}"[:_WIDTH],
            steps=(
                *map(describe, scenario.start),
                f"fault: {injection.describe()}",
                f"{describe(scenario.step)}  -> {answer.said}",
            ),
            program={
                "program": to_json((*scenario.start, scenario.step)),
                "fault": injection.as_data(),
            },
            # A script would hang as well; a replay is under a watch.
            reproducer=""
            if answer.hung
            else reproducer(self.target, sweep.read, injection, self.plan.api),
        )


def _summary(injection: Injection, answer: ReadAnswer) -> str:
    if answer.hung:
        return "the storage failed once, and it waits for ever"
    what = "it was cancelled" if injection.kind == "cancellation" else "the storage failed"
    return f"{what}, and it answered as if that were all there is"


_EXPECTED = "an error, or what is stored"


def is_recorded_read(data: object) -> bool:
    """Return whether a finding's ``program`` ends with a read."""
    if not isinstance(data, Mapping) or "fault" not in data or "program" not in data:
        return False
    program = from_json(data["program"])
    return bool(program) and type(program[-1]) in READS


def replay_read(bench: FaultBench, data: Mapping[str, Any]) -> ReplayAnswer:
    """Replay a recorded read that failed. If its place is gone, fail the read at the other places.

    Raises:
        ValueError: the data is no recorded read.
    """
    *start, step = from_json(data["program"])
    recorded = Injection.from_data(data["fault"])
    scenario = ReadScenario("as recorded", tuple(start), step)
    with ExitStack() as stack:
        sweep = bench.on_worker(partial(ReadSweep.of, bench, scenario, stack))
        return _answered(sweep, [recorded, *sweep.injections])


def _answered(sweep: ReadSweep, tried: Sequence[Injection]) -> ReplayAnswer:
    fired = 0
    try:
        for injection in tried:
            answer = sweep.answer_under(injection)
            fired += answer.fired
            if answer.wrong:
                return ReplayAnswer(
                    Status.FAILING, _summary(injection, answer), _EXPECTED, f"it {answer.said}"
                )
    except SlowError as slow:
        return unclear(f"a call took too long to tell: {slow}")
    if not fired:
        return unclear("the read asks nothing of the storage any more")
    return ReplayAnswer(Status.FIXED, "the read says so, wherever the storage fails")
