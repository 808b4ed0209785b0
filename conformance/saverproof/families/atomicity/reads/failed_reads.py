"""Judges reads that fail or are cancelled: a saver must not answer that nothing is there when it
could not read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from saverproof.errors import NoCleanRunError, OpeningError
from saverproof.families.answer import ReplayAnswer, Status, unclear
from saverproof.families.atomicity.fault_plans import (
    Injection,
    covering,
    thinned,
)
from saverproof.families.atomicity.reads.read_sweeps import (
    READS,
    SCENARIOS,
    ReadAnswer,
    ReadScenario,
    ReadSweep,
)
from saverproof.families.atomicity.scripts.failed_read_scripts import reproducer
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.worker import SlowError, UnansweredError
from saverproof.families.atomicity.verdicts import LOST_CONNECTION, READS_RAISE
from saverproof.families.items import Finding, ItemPlan
from saverproof.programs.steps.codec import from_json, to_json
from saverproof.programs.steps.describing import describe
from saverproof.savers.targets.target import Target
from saverproof_faults import Fault

_NOTHING_ASKED = (
    "no read was seen to ask the storage for anything that could be refused: it is answered from "
    "memory, from a file that is mapped into it, or by what no layer of the kit sees"
)
_LOST = (
    "what had been stored was gone after a read under a fault: a write that was put off until then "
    "failed in its place"
)
_PATIENT = (
    "what it does where a file stays locked is not known, as it waits longer than it is watched"
)
_WIDTH = 500


def _sort_of(injection: Injection) -> tuple[str, str]:
    """Return the sort of a failure. At least one failure of each sort is tried."""
    return injection.name, "" if injection.plan is None else injection.plan.error


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
    locks: bool
    """True if each read is made once while another process has the store's files for itself."""
    _shown: dict[str, Finding] = field(default_factory=dict)
    """The plainest wrong answer of each operation."""
    _asked: bool = False
    _locked_out: set[str] = field(default_factory=set)
    """The operations that were tried so."""

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
                    tally.unsure((READS_RAISE,), f"a read could not be made to fail: {problem}")
                    if isinstance(problem, UnansweredError):
                        self.bench.renew()
        if not self._asked:
            tally.not_exercised([READS_RAISE], _NOTHING_ASKED)
        self._tell()

    def _sweep(self, sweep: ReadSweep, most: int) -> None:
        operation, tally = sweep.scenario.operation, self.record.tally
        self._asked |= bool(sweep.injections)
        chosen = covering(sweep.injections, most, _sort_of)
        chosen += [*thinned(sweep.silences, self.silences), *self._locks(sweep)]
        for injection in tally.budget.within(chosen, "failed reads"):
            if operation in self._shown:
                return
            answer = sweep.answer_under(injection)
            self.record.beat(self.bench.calls)
            if answer.hung and injection.name == Fault.SILENCE:
                # The saver waits without a limit, and would do so at each further silence.
                self.silences = 0
                self._tell_of_silence(self._finding(sweep, injection, answer))
                return
            if answer.hung and injection.locked_out:
                self.locks = False
                tally.note(f"{operation}: {_PATIENT}")
                return
            if answer.hung and not answer.wrong:
                tally.unsure((READS_RAISE,), f"{operation} hangs: {injection.describe()}")
                return
            if answer.lost:
                tally.unsure((READS_RAISE,), f"{operation}: {_LOST}: {injection.describe()}")
                return
            if answer.fired:
                self._asked = True
                self.record.tried_read()
            if answer.wrong:
                self._keep(READS_RAISE)
                self._shown[operation] = self._finding(sweep, injection, answer)

    def _locks(self, sweep: ReadSweep) -> list[Injection]:
        """Return the lock of another process as a fault, for the first store of each operation. It
        is tried so rarely because it takes as long as the saver waits.
        """
        operation = sweep.scenario.operation
        if not (self.locks and sweep.read.files) or operation in self._locked_out:
            return []
        self._locked_out.add(operation)
        return [Injection(locked_out=True)]

    def _tell_of_silence(self, found: Finding) -> None:
        """Report a read that waits for ever, unless a write has shown that already."""
        if LOST_CONNECTION not in self.record.tally.wanted - self.record.found.keys():
            return
        self._keep(LOST_CONNECTION)
        self.record.tally.findings.append(replace(found, contract=LOST_CONNECTION))

    def _keep(self, name: str) -> None:
        self.record.tally.differences.note(name)

    def _tell(self) -> None:
        """Report one finding for all operations: a saver usually reads with the same code in each
        of them.
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
        silent = injection.name == Fault.SILENCE
        failed = "the server does not answer" if silent else "the storage failed once"
        return f"{failed}, and it waits for ever"
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
    """Replay a recorded read that failed. If its place is gone, the read fails at its other places.

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
            fired += answer.fired and not answer.lost
            if answer.wrong or (answer.hung and injection.name == Fault.SILENCE):
                return ReplayAnswer(
                    Status.FAILING, _summary(injection, answer), _EXPECTED, f"it {answer.said}"
                )
    except SlowError as slow:
        return unclear(f"a call took too long to tell: {slow}")
    if not fired:
        return unclear("the read asks nothing of the storage any more")
    return ReplayAnswer(Status.FIXED, "the read says so, wherever the storage fails")
