"""Judges the atomicity of one saver through one API: every write operation fails at every place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables.atomicity import TABLE
from saverproof.errors import NoCleanRunError, OpeningError
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.atomicity.effort import EFFORTS, SLOW_TO_OPEN_MS, FaultEffort
from saverproof.families.atomicity.fault_plans import Injection, covering, spared
from saverproof.families.atomicity.fault_programs import MOST_UNANSWERED, FaultPrograms
from saverproof.families.atomicity.journal import Journal, blamed
from saverproof.families.atomicity.neighbours.neighbour_trials import NeighbourTrials
from saverproof.families.atomicity.reads.failed_reads import FailedReads
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.reporting import finding
from saverproof.families.atomicity.scenarios import RARE, SCENARIOS, suited
from saverproof.families.atomicity.sweeps.own_server import own_server
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.atomicity.sweeps.shortening import shortened
from saverproof.families.atomicity.sweeps.sweep import FaultSweep, sort_of, swept, swept_later
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.files import why_not_held
from saverproof.families.atomicity.trials.worker import SlowError, UnansweredError
from saverproof.families.atomicity.verdicts import CANCELLED, LOST_CONNECTION, SURVIVES, USABLE
from saverproof.families.drivers import declared, nothing_passed
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.families.untried import why_untried
from saverproof.savers.execution.storage_errors import room_in
from saverproof.savers.targets.target import Target
from saverproof_faults import Fault


@dataclass(frozen=True, slots=True)
class AtomicityFamily:
    """Judges savers whose write operations fail at every place."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Sweep every scenario, then run random programs with faults among their steps."""
        judging = AtomicityJudging(plan, target, tally, FaultRecord(tally), Journal(plan.journal))
        with room_in(plan.folder):
            judging.run()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Replay a recorded fault; answer whether it still breaks the contract."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Return what the journal says of the trial that ended the process."""
        return blamed(journal)


_NEVER_SUSPENDS = "no operation awaits anything that could be cancelled: each is done in one go"
_POOLED = (
    "no message was failed: a pooler ends a broken connection before its server is done with it, "
    "so that what the server has then stored is not known"
)
_ALONE = (
    "another process can open the store while a saver is open, but this one cannot, so that others "
    "looked only once it was closed"
)
_UNSEEN = (
    "the saver's files are changed by threads or processes that were there before its calls were "
    "held, such as a pool that its module keeps, and not the saver"
)
_LOCAL = "the store is in files: there is no connection that others could cut"


@dataclass(slots=True)
class AtomicityJudging:
    """The judging of one plan."""

    plan: ItemPlan
    target: Target
    tally: Tally
    record: FaultRecord
    journal: Journal
    _unanswered: Counter[str] = field(default_factory=Counter)
    _hung: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Sweep every scenario, and tell the tally."""
        tally, record = self.tally, self.record
        effort = EFFORTS[self.plan.profile]
        drivers, problems = declared(self.target)
        with ExitStack() as stack:
            bench = stack.enter_context(FaultBench.opened(self.plan, self.target, drivers))
            if bench.alone:
                tally.note(f"{_ALONE}: {bench.alone}")
            if self.target.is_pooled:
                tally.note(_POOLED)
            try:
                sweeps = self._sweeps(bench, stack, effort)
                if not sweeps:
                    record.nothing_known("; ".join(tally.notes))
                seen = self._were_seen(sweeps, problems)
                for problem in problems:
                    tally.note(problem)
                self._sweep(bench, sweeps, effort)
                with own_server(bench, sweeps, effort, tally) as done:
                    self._try_on(bench, done)
                    with own_server(bench, sweeps, effort, tally, proxied=True) as failovers:
                        self._try_on(bench, failovers)
                    record.settle()
                    self._report(bench, stack)
                tally.keep_settled(tally.wanted - {USABLE})
                if seen:
                    programs = FaultPrograms(self.plan, self.target, record, self.journal, bench)
                    programs.try_in_a_row(sweeps)
                    programs.try_randomly(effort)
                    programs.report()
                    reads = FailedReads(
                        *(self.plan, self.target, record, bench, self._able),
                        *(effort.silences, effort.locks),
                    )
                    reads.run(effort.reads)
                    NeighbourTrials(self.plan, record, bench).run(effort.meetings)
            finally:
                tally.operations, tally.saver_s = bench.calls, bench.seconds
        suspends = any(sweep.counted.cancellations for sweep in sweeps)
        if sweeps and self.plan.api == "async" and not (suspends or tally.checked[CANCELLED]):
            tally.rule_out(CANCELLED, _NEVER_SUSPENDS)
        if record.local and not tally.checked[LOST_CONNECTION]:
            tally.rule_out(LOST_CONNECTION, _LOCAL)
        tally.sections["faults"] = record.as_data()

    @property
    def _able(self) -> frozenset[str]:
        """The saver's capabilities."""
        facts = self.plan.facts
        able = {*facts["operations"][self.plan.api], *facts["capabilities"]}
        able -= facts["absent"].keys()
        return frozenset(able | ({"durable"} if facts["durable"] else set()))

    def _were_seen(self, sweeps: Sequence[FaultSweep], problems: list[str]) -> bool:
        """Return whether some layer saw what the saver does to its storage. If none did, tell the
        tally.
        """
        counted = [sweep.counted for sweep in sweeps]
        # Some engines change their mapped files although nothing in the store changes.
        unseen = any(one.unseen for one in counted) and not any(one.changes for one in counted)
        seen = not unseen and any(one.places for one in counted)
        if sweeps and not seen:
            self.record.untried = _UNSEEN if unseen else why_untried(self.target)
            why = _UNSEEN if unseen else nothing_passed(problems, why_not_held(self.target))
            # Cancelling and refusing to serialize need no driver: they are tried.
            self.tally.not_exercised(self.tally.applicable - {CANCELLED}, why)
        return seen

    def _report(self, bench: FaultBench, stack: ExitStack) -> None:
        """Report every flaw that the sweeps found, by the shortest trials. Acknowledged calls that
        were lost are handed over to the durability family.
        """
        tally, record = self.tally, self.record
        shown = [
            shortened(bench, found, stack, tally.budget)
            for name in record.found
            if name in {*tally.wanted, SURVIVES}
            for found in record.shown(name)
        ]
        for trials in shown:
            contract = trials[0].contract
            others = record.other_operations(contract)
            told = tally.handed if contract == SURVIVES else tally.findings
            told.append(finding(self.plan, self.target, trials, others))

    def _sweeps(self, bench: FaultBench, stack: ExitStack, effort: FaultEffort) -> list[FaultSweep]:
        """Return every scenario that this saver can take, each after a clean run."""
        sweeps: list[FaultSweep] = []
        failing: dict[str, str] = {}
        for scenario in suited([*SCENARIOS, *(RARE if effort.rare else ())], self._able):
            try:
                self.journal.note((*scenario.start, scenario.step), None)
                prepare = partial(swept, bench, scenario, stack, also_lasting=effort.lasting)
                sweep = bench.on_worker(prepare)
            except (NoCleanRunError, OpeningError, UnansweredError) as problem:
                why = f"not judged, since it fails without faults: {problem}"
                self.tally.note(why)
                failing.setdefault(scenario.operation, why)
                if isinstance(problem, UnansweredError):
                    bench.renew()
                continue
            sweeps.append(sweep)
            sweeps += self._later(bench, sweep, stack)
            self.record.beat(bench.calls)
        if all(sweep.scenario.makes_the_store for sweep in sweeps):
            # A saver that can be opened, but refuses everything else, is not judged.
            return []
        for sweep in sweeps:
            self.record.counted(sweep)
        # An operation of which nothing is judged might break anything.
        for operation in failing.keys() - {sweep.scenario.operation for sweep in sweeps}:
            self.tally.not_answered(self.tally.wanted, failing[operation])
        return sweeps

    def _later(self, bench: FaultBench, sweep: FaultSweep, stack: ExitStack) -> list[FaultSweep]:
        """Return the sweep of what the saver still does after an operation has returned; [] if it
        does nothing.
        """
        try:
            later = bench.on_worker(partial(swept_later, sweep, stack))
        except (NoCleanRunError, OpeningError, UnansweredError) as problem:
            self.tally.note(f"not judged until the saver is closed: {problem}")
            if isinstance(problem, UnansweredError):
                bench.renew()
            return []
        return [] if later is None else [later]

    def _sweep(self, bench: FaultBench, sweeps: list[FaultSweep], effort: FaultEffort) -> None:
        slow = self.plan.facts["opens_ms"] >= SLOW_TO_OPEN_MS
        everything = [
            (sweep, injection)
            for sweep in sweeps
            if sweep.clean is None
            for injection in sweep.injections
        ]
        everything = spared(everything, Fault.SILENCE, effort.silences)
        chosen = covering(everything, effort.slow_most if slow else effort.most, sort_of)
        if len(chosen) < len(everything):
            self.tally.note(f"{len(chosen)} of {len(everything)} faults, evenly chosen")
        budget = self.tally.budget
        chosen = budget.ordered(chosen, lambda pair: (pair[0].scenario.operation, pair[1].about))
        chosen = budget.ordered(chosen, lambda pair: pair[0].scenario.operation)
        for sweep, injection in budget.within(chosen, "faults", 0.9, len(sweeps)):
            # Each class of faults has a limit of its own.
            if self._unanswered[_class_of(injection)] >= MOST_UNANSWERED:
                why = "cut off: the saver hangs, and would each time"
                if _class_of(injection) not in self._hung:
                    why = f"cut off: the saver did not answer {MOST_UNANSWERED} times"
                self.record.not_tried(injection, why)
                continue
            self._try(sweep, injection)
            self.record.beat(bench.calls)

    def _try_on(self, bench: FaultBench, done: Sequence[tuple[FaultSweep, Injection]]) -> None:
        """Inject the faults that need a server of the saver's own."""
        for sweep, injection in self.tally.budget.within(done, "faults of the server", 0.95):
            self._try(sweep, injection)
            self.record.beat(bench.calls)

    def _try(self, sweep: FaultSweep, injection: Injection) -> None:
        scenario = sweep.scenario
        self.journal.note((*scenario.start, scenario.step), injection)
        try:
            observation, verdict = sweep.judged(injection)
        except (NoCleanRunError, OpeningError) as problem:
            self.record.not_tried(injection, f"the trial could not begin: {problem}")
            return
        except SlowError as slow:
            self._unanswered[_class_of(injection)] += 1
            self.record.not_tried(injection, f"the trial was given up: {slow}")
            return
        if observation.hung:
            # It is certain that the saver hangs. One such trial is enough.
            self._hung.add(_class_of(injection))
            self._unanswered[_class_of(injection)] += MOST_UNANSWERED
        self.record.tried(sweep, injection, observation, verdict, self.plan.api)


def _class_of(injection: Injection) -> str:
    """Return the class of a fault in which a saver may hang for a special reason, such as a silent
    server; "" for all other faults.
    """
    if injection.name == Fault.SILENCE:
        return injection.name
    return injection.kind if injection.kind == "cancellation" else ""
