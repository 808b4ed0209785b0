"""Judges the atomicity of one saver through one API: every write operation, failed everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.registry import contract
from saverproof.contracts.tables.atomicity import TABLE
from saverproof.errors import NoCleanRunError, OpeningError
from saverproof.execution.storage_errors import room_in
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.atomicity.bench import FaultBench
from saverproof.families.atomicity.counting import kinds_of
from saverproof.families.atomicity.drivers import declared, nothing_passed
from saverproof.families.atomicity.effort import EFFORTS, SLOW_TO_OPEN_MS, FaultEffort
from saverproof.families.atomicity.fault_plans import Injection, covering, spared
from saverproof.families.atomicity.files import why_not_held
from saverproof.families.atomicity.journal import Journal, blamed
from saverproof.families.atomicity.judging import CANCELLED, LOST_CONNECTION, USABLE
from saverproof.families.atomicity.own_server import own_server
from saverproof.families.atomicity.random_programs import DrawnSteps, fault_theme
from saverproof.families.atomicity.random_shrinking import places_of, shortest_program
from saverproof.families.atomicity.random_trial import RandomTrial
from saverproof.families.atomicity.random_violation import ProgramViolation
from saverproof.families.atomicity.record import FaultRecord
from saverproof.families.atomicity.repeated_faults import faults_in_a_row
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.reporting import ShrunkViolation, finding, finding_of_random
from saverproof.families.atomicity.scenarios import RARE, SCENARIOS, suited
from saverproof.families.atomicity.shortening import shortened
from saverproof.families.atomicity.sweep import FaultSweep, sort_of, swept
from saverproof.families.atomicity.worker import HungError, SlowError, UnansweredError
from saverproof.families.tally import Tally
from saverproof.families.untried import why_untried
from saverproof.items import ItemPlan
from saverproof.targets.target import Target
from saverproof_faults import Fault

FAMILY = "atomicity"
RANDOM, MANY = "a random program", "many faults in a row"
"""What findings call a program with faults."""
MOST_UNANSWERED = 2
"""A saver that does not answer this often is not asked any further: each time costs the worker's
patience.
"""


@dataclass(frozen=True, slots=True)
class AtomicityFamily:
    """Every write operation is failed at every place."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Sweep every scenario, then run random programs with faults among their steps."""
        judging = AtomicityJudging(plan, target, tally, FaultRecord(tally), Journal(plan.journal))
        with room_in(plan.folder):
            judging.run()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Whether a recorded fault still breaks the contract."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """The journal has the trial that was not survived."""
        return blamed(journal)


_NEVER_SUSPENDS = "no operation awaits anything that could be cancelled: each is done in one go"
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
    violations: dict[str, ShrunkViolation] = field(default_factory=dict)
    """Contracts that random programs broke, and a short program that does."""
    _unanswered: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        """Sweep every scenario, and tell the tally."""
        tally, record = self.tally, self.record
        effort = EFFORTS[self.plan.profile]
        drivers, problems = declared(self.target)
        with ExitStack() as stack:
            bench = stack.enter_context(FaultBench.opened(self.plan, self.target, drivers))
            if bench.alone:
                tally.note(f"{_ALONE}: {bench.alone}")
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
                    self._try_faults_in_a_row(bench, sweeps)
                    self._try_random_programs(bench, effort)
                    self._report_programs()
            finally:
                tally.operations, tally.saver_s = bench.calls, bench.seconds
        suspends = any(sweep.counted.cancellations for sweep in sweeps)
        if sweeps and self.plan.api == "async" and not suspends:
            tally.rule_out(CANCELLED, _NEVER_SUSPENDS)
        if record.local and not tally.checked[LOST_CONNECTION]:
            tally.rule_out(LOST_CONNECTION, _LOCAL)
        tally.sections["faults"] = record.as_data()

    def _were_seen(self, sweeps: Sequence[FaultSweep], problems: list[str]) -> bool:
        """Whether a layer saw what the saver does to its storage; if not, that is said."""
        counted = [sweep.counted for sweep in sweeps]
        # Some engines change what they have mapped while they change nothing of the store.
        unseen = any(one.unseen for one in counted) and not any(one.changes for one in counted)
        seen = not unseen and any(one.places for one in counted)
        if sweeps and not seen:
            self.record.untried = _UNSEEN if unseen else why_untried(self.target)
            why = _UNSEEN if unseen else nothing_passed(problems, why_not_held(self.target))
            # Cancelling and refusing to serialize need no driver: they are tried.
            self.tally.not_exercised(self.tally.applicable - {CANCELLED}, why)
        return seen

    def _report(self, bench: FaultBench, stack: ExitStack) -> None:
        """Tell of every flaw that the sweeps found, by the shortest trials."""
        wanted, record = self.tally.wanted, self.record
        shown = [
            shortened(bench, found, stack, self.tally.budget)
            for name in record.found
            for found in record.shown(name)
        ]
        self.tally.findings += [
            finding(self.plan, self.target, trials, record.other_operations(trials[0].contract))
            for trials in shown
            if trials[0].contract in wanted
        ]

    def _report_programs(self) -> None:
        """Tell of those that programs found; what follows from another flaw is none of its own."""
        found = self.record.found
        known = {name for broken in found for name in (broken, *contract(broken).implies)}
        self.tally.findings += [
            finding_of_random(self.plan, self.target, violation)
            for name, violation in self.violations.items()
            if name in self.tally.wanted - known
        ]

    def _sweeps(self, bench: FaultBench, stack: ExitStack, effort: FaultEffort) -> list[FaultSweep]:
        """Every scenario that this saver can take, counted in a clean run."""
        able = {*self.plan.facts["operations"][self.plan.api], *self.plan.facts["capabilities"]}
        able -= self.plan.facts["absent"].keys()
        if self.plan.facts["durable"]:
            able.add("durable")
        sweeps: list[FaultSweep] = []
        for scenario in suited([*SCENARIOS, *(RARE if effort.rare else ())], frozenset(able)):
            try:
                self.journal.note((*scenario.start, scenario.step), None)
                prepare = partial(swept, bench, scenario, stack, also_lasting=effort.lasting)
                sweep = bench.on_worker(prepare)
            except (NoCleanRunError, OpeningError, UnansweredError) as problem:
                self.tally.note(f"not judged, it does not work without faults either: {problem}")
                if isinstance(problem, UnansweredError):
                    bench.renew()
                continue
            sweeps.append(sweep)
            self._beat(bench)
        if all(sweep.scenario.makes_the_store for sweep in sweeps):
            # What can be opened and refuses all else is not judged.
            return []
        for sweep in sweeps:
            self.record.counted(sweep)
        return sweeps

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
            # One class of faults is not to use up what the other is allowed.
            if self._unanswered[_class_of(injection)] >= MOST_UNANSWERED:
                why = f"cut off: the saver did not answer {MOST_UNANSWERED} times"
                self.record.not_tried(injection, why)
                continue
            self._try(sweep, injection)
            self._beat(bench)

    def _try_on(self, bench: FaultBench, done: Sequence[tuple[FaultSweep, Injection]]) -> None:
        """What is done to a server of its own."""
        for sweep, injection in self.tally.budget.within(done, "faults of the server", 0.95):
            self._try(sweep, injection)
            self._beat(bench)

    def _try_faults_in_a_row(self, bench: FaultBench, sweeps: list[FaultSweep]) -> None:
        """Programs in which one saver fails often; the sweeps have judged what it does once."""
        try:
            programs = faults_in_a_row(bench, sweeps)
        except (OpeningError, UnansweredError) as problem:
            bench.renew()
            self.tally.unsure((USABLE,), f"no faults in a row: {problem}")
            return
        for many in programs:
            trial = RandomTrial(bench, many.source, self.journal.note_random)
            try:
                violation = bench.on_worker(trial.run)
            except HungError as hung:
                bench.renew()
                violation = trial.hung(str(hung))
            except (OpeningError, SlowError) as problem:
                bench.renew()
                self.tally.unsure((USABLE,), f"many faults in a row were given up: {problem}")
                continue
            self.record.tried_in_a_row(trial.injected)
            if violation is not None and trial.injected > 1:
                self._keep(bench, violation, MANY)
            self._beat(bench)

    def _try_random_programs(self, bench: FaultBench, effort: FaultEffort) -> None:
        """Random programs; one that breaks a contract already broken adds nothing."""
        able = frozenset(self.plan.facts["operations"][self.plan.api])
        random_programs = range(effort.random_programs)
        given_up = 0
        for number in self.tally.budget.within(random_programs, "random programs with faults"):
            choose = Random(f"{self.plan.seed}:{FAMILY}:{self.plan.api}:{number}")
            source = DrawnSteps(choose, fault_theme(able), effort.length, kinds_of(bench))
            random_trial = RandomTrial(bench, source, self.journal.note_random)
            try:
                violation = bench.on_worker(random_trial.run)
            except UnansweredError as problem:
                self.tally.note(f"a random program was given up: {problem}")
                bench.renew()
                violation = None
                if isinstance(problem, HungError):
                    violation = random_trial.hung(str(problem))
                given_up += 1
            self.record.tried_randomly(random_trial.injected)
            if violation is not None:
                self._keep(bench, violation, RANDOM)
            self._beat(bench)
            if given_up >= MOST_UNANSWERED:
                break

    def _keep(self, bench: FaultBench, violation: ProgramViolation, title: str) -> None:
        """Keep the first program that broke a contract which the sweeps have not found broken."""
        contract = str(violation.verdict.contract)
        self.tally.differences.note(contract)
        if contract in self.violations or contract in self.record.found:
            return
        if violation.hung:
            # Each further trial would hang as well.
            self.violations[contract] = ShrunkViolation(violation, {}, title)
            return
        shortest = shortest_program(bench, violation)
        places = {at: places_of(bench, shortest, at) for at in shortest.faults}
        self.violations[contract] = ShrunkViolation(shortest, places, title)

    def _try(self, sweep: FaultSweep, injection: Injection) -> None:
        scenario = sweep.scenario
        self.journal.note((*scenario.start, scenario.step), injection)
        try:
            observation = sweep.tried(injection)
        except (NoCleanRunError, OpeningError) as problem:
            self.record.not_tried(injection, f"the trial could not begin: {problem}")
            return
        except SlowError as slow:
            self._unanswered[_class_of(injection)] += 1
            self.record.not_tried(injection, f"the trial was given up: {slow}")
            return
        self._unanswered[_class_of(injection)] += bool(observation.hung)
        self.record.tried(
            sweep, injection, observation, sweep.verdict(injection, observation), self.plan.api
        )

    def _beat(self, bench: FaultBench) -> None:
        self.tally.operations = bench.calls
        self.tally.beat(faults=self.record.injected.total())


def _class_of(injection: Injection) -> str:
    """Faults to which a saver may fail to answer for a reason of their own."""
    if injection.name == Fault.SILENCE:
        return injection.name
    return injection.kind if injection.kind == "cancellation" else ""
