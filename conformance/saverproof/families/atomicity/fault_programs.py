"""Judges programs in which a saver fails more than once, or among other steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from saverproof.contracts.registry import contract
from saverproof.contracts.tables.atomicity import TABLE
from saverproof.errors import NoCleanRunError, OpeningError
from saverproof.families.atomicity.effort import FaultEffort
from saverproof.families.atomicity.journal import Journal
from saverproof.families.atomicity.programs.random_judging import unusable_after
from saverproof.families.atomicity.programs.random_programs import DrawnSteps, fault_theme
from saverproof.families.atomicity.programs.random_shrinking import places_of, shortest_program
from saverproof.families.atomicity.programs.random_trial import RandomTrial
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.programs.reads_in_a_row import reads_in_a_row
from saverproof.families.atomicity.programs.repeated_faults import FaultsInARow, faults_in_a_row
from saverproof.families.atomicity.reporting import ShrunkViolation, finding_of_random
from saverproof.families.atomicity.sweeps.record import FaultRecord
from saverproof.families.atomicity.sweeps.sweep import FaultSweep
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.counting import kinds_of
from saverproof.families.atomicity.trials.worker import HungError, SlowError, UnansweredError
from saverproof.families.atomicity.verdicts import USABLE
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target

RANDOM, MANY, READS = "a random program", "many faults in a row", "reads that fail"
"""The titles of findings that programs with faults led to."""
MOST_UNANSWERED = 2
"""The number of unanswered calls after which a saver is not asked any more: each costs the worker's
patience.
"""


@dataclass(slots=True)
class FaultPrograms:
    """The programs with faults of one plan. They come after the sweeps, which judge single
    faults.
    """

    plan: ItemPlan
    target: Target
    record: FaultRecord
    journal: Journal
    bench: FaultBench
    violations: dict[str, ShrunkViolation] = field(default_factory=dict)
    """The contracts that programs broke, each with a short program that breaks it."""

    @property
    def tally(self) -> Tally:
        """The tally of the item."""
        return self.record.tally

    def try_in_a_row(self, sweeps: Sequence[FaultSweep]) -> None:
        """Run programs in which one saver fails often."""
        try:
            programs = [*faults_in_a_row(self.bench, sweeps), *self._reads(sweeps)]
        except NoCleanRunError as problem:
            self.tally.unsure((USABLE,), f"no faults in a row: {problem}")
            return
        except (OpeningError, UnansweredError) as problem:
            self.bench.renew()
            self.tally.unsure((USABLE,), f"no faults in a row: {problem}")
            return
        for many in programs:
            trial = RandomTrial(self.bench, many.source, self.journal.note_random)
            try:
                violation = self.bench.on_worker(trial.run)
            except HungError as hung:
                self.bench.renew()
                violation = trial.hung(str(hung))
                self.tally.note("no more faults in a row were tried: the saver hangs")
            except NoCleanRunError as problem:
                self.tally.unsure((USABLE,), f"many faults in a row were given up: {problem}")
                continue
            except (OpeningError, SlowError) as problem:
                self.bench.renew()
                self.tally.unsure((USABLE,), f"many faults in a row were given up: {problem}")
                continue
            self.record.tried_in_a_row(trial.injected, map(unusable_after, many.faults.values()))
            if violation is not None and len(violation.faults) >= many.least:
                self._keep(violation, MANY if many.least > 1 else READS)
            self.record.beat(self.bench.calls)
            if violation is not None and violation.hung:
                return

    def _reads(self, sweeps: Sequence[FaultSweep]) -> list[FaultsInARow]:
        operations = {*self.plan.facts["operations"][self.plan.api]}
        able = {"get_tuple", "list"} <= operations
        # What a call leaves behind without any fault does not come from failed reads.
        clean = all(sweep.clean is None for sweep in sweeps)
        if not (able and clean):
            return []
        return reads_in_a_row(self.bench, histories="delta_history" in operations)

    def try_randomly(self, effort: FaultEffort) -> None:
        """Run random programs. Keep the first one that breaks a contract, unless the sweeps have
        found the contract broken.
        """
        able = frozenset(self.plan.facts["operations"][self.plan.api])
        random_programs = range(effort.random_programs)
        given_up = 0
        for number in self.tally.budget.within(random_programs, "random programs with faults"):
            choose = Random(f"{self.plan.seed}:{self.plan.family}:{self.plan.api}:{number}")
            source = DrawnSteps(choose, fault_theme(able), effort.length, kinds_of(self.bench))
            random_trial = RandomTrial(self.bench, source, self.journal.note_random)
            try:
                violation = self.bench.on_worker(random_trial.run)
            except NoCleanRunError as problem:
                self.tally.note(f"random programs with faults were given up: {problem}")
                continue
            except UnansweredError as problem:
                self.tally.note(f"a random program was given up: {problem}")
                self.bench.renew()
                violation = None
                if isinstance(problem, HungError):
                    violation = random_trial.hung(str(problem))
                given_up += 1
            self.record.tried_randomly(random_trial.injected)
            if violation is not None:
                self._keep(violation, RANDOM)
            self.record.beat(self.bench.calls)
            if given_up >= MOST_UNANSWERED:
                break

    def report(self) -> None:
        """Report the violations that programs found, without those that follow from another flaw.

        A violation of another family's contract is handed over to that family.
        """
        found, own = self.record.found, {one.id for one in TABLE.contracts}
        known = {name for broken in found for name in (broken, *contract(broken).implies)}
        for name, violation in self.violations.items():
            if name in self.tally.wanted - known:
                told = self.tally.findings
            elif name not in own | known:
                told = self.tally.handed
            else:
                continue
            told.append(finding_of_random(self.plan, self.target, violation))

    def _keep(self, violation: ProgramViolation, title: str) -> None:
        """Keep the first program that broke a contract, unless the sweeps have found it broken."""
        contract = str(violation.verdict.contract)
        self.tally.differences.note(contract)
        if contract in self.violations or contract in self.record.found:
            return
        if violation.hung:
            # Each further trial would hang as well.
            self.violations[contract] = ShrunkViolation(violation, {}, title)
            return
        shortest = shortest_program(self.bench, violation)
        places = {at: places_of(self.bench, shortest, at) for at in shortest.faults}
        self.violations[contract] = ShrunkViolation(shortest, places, title)
