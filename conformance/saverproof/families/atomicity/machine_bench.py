"""The folder and the bench on which the programs of a machine of faults run, and what is known of
the machine's class.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.contracts.tables.atomicity import TABLE
from saverproof.families.atomicity.programs.own_steps import OwnFaultSteps
from saverproof.families.atomicity.programs.random_programs import RecordedSteps
from saverproof.families.atomicity.programs.random_shrinking import places_of, shortest_program
from saverproof.families.atomicity.programs.random_trial import RandomTrial
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.replay import read_random
from saverproof.families.atomicity.reporting import ShrunkViolation, finding_of_random
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.trials.counting import kinds_of
from saverproof.families.atomicity.trials.worker import UnansweredError
from saverproof.families.atomicity.verdicts import USABLE, broken
from saverproof.families.drivers import declared
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.machines.known_failures import database
from saverproof.families.machines.survey import survey
from saverproof.process.scratch import scratch_folder
from saverproof.programs.small import THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import Program
from saverproof.savers.execution.storage_errors import room_in
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.target import Target
from saverproof.scripts.own_source import OwnSources

_EACH_CALL = (checkpoint(THREAD, 1), batch(THREAD, 1, 1, 2))
_UNANSWERED = "a call is never answered"


@contextmanager
def folder_of_machine() -> Iterator[Path]:
    """Make a folder for programs, which is removed when the block ends."""
    with scratch_folder() as folder, room_in(str(folder)):
        yield folder


def plan_of(target: Target, api: str, folder: Path) -> ItemPlan:
    """Return the plan by which this saver is judged."""
    with loop_for("crossed") as loop:
        facts = survey(target, folder, loop).facts
    return ItemPlan({}, facts, TABLE.name, api, "quick", 0, str(folder))


@dataclass(slots=True)
class KnownPrograms:
    """The programs that broke a contract, shared by all machines of one class.

    ``key`` is the class's key in example databases. ``contracts`` are the ids of the enforced
    contracts; empty for all.
    """

    key: bytes
    target: Target
    plan: ItemPlan
    contracts: frozenset[str]
    sources: OwnSources
    own: OwnFaultSteps
    found: dict[str, tuple[Finding, Program]] = field(default_factory=dict)
    again: str | None = None
    """The contract that an earlier program still breaks."""
    passed: set[str] | None = None
    """The sorts of places that calls of the saver pass, once they are known."""

    @contextmanager
    def bench(self, folder: Path) -> Iterator[FaultBench]:
        """Open a bench for programs below a folder."""
        drivers, _ = declared(self.target)
        plan = self.plan
        here = ItemPlan(plan.target, plan.facts, TABLE.name, plan.api, plan.profile, 0, str(folder))
        with FaultBench.opened(here, self.target, drivers) as bench:
            yield bench

    def kinds(self, bench: FaultBench) -> tuple[str, ...]:
        """Return the sorts of faults for which the saver's calls have places."""
        if self.passed is None:
            for position in range(len(_EACH_CALL)):
                steps = RecordedSteps(_EACH_CALL, {}, (THREAD,))
                trial = RandomTrial(bench, steps, counted=position)
                # The machine's own programs will show what is wrong without any fault.
                answered(bench, trial, trial.run)
            self.passed = bench.passed
        bench.passed = self.passed
        kinds = kinds_of(bench)
        return (*kinds, "kill-inside") if "kill" in kinds else kinds

    def trial(self, bench: FaultBench, source: Any) -> RandomTrial:
        """Return a trial that also takes the author's steps."""
        return RandomTrial(bench, source, own=self.own)

    def try_given(self, bench: FaultBench, examples: tuple[Any, ...]) -> None:
        """Run the author's programs, and those in the example database."""
        kept = database()
        known = sorted(kept.fetch(self.key)) if kept is not None else []
        for data in (*examples, *map(json.loads, known)):
            trial = self.trial(bench, RecordedSteps(*read_random(data)))
            violation = answered(bench, trial, trial.run)
            self.again = None if violation is None else self.keep(bench, violation)
            if self.again is not None:
                return
            if kept is not None:
                kept.delete(self.key, _as_bytes(data))

    def keep(self, bench: FaultBench, violation: ProgramViolation) -> str | None:
        """Shorten a violation and put it into words. Return the contract, or None if it is not
        enforced.
        """
        contract = str(violation.verdict.contract)
        if self.contracts and contract not in {*self.contracts, *self.sources.statements}:
            return None
        if contract not in self.found:
            shown = self.shrunk(bench, violation)
            found = finding_of_random(self.plan, self.target, shown, self.sources)
            self.found[contract] = found, shown.violation.program
            if (kept := database()) is not None:
                kept.save(self.key, _as_bytes(found.program))
        return contract

    def shrunk(self, bench: FaultBench, violation: ProgramViolation) -> ShrunkViolation:
        """Return the violation with its shortest program. A call that is never answered is not
        shortened, since each try has to wait for it.
        """
        if violation.verdict.summary == _UNANSWERED:
            return ShrunkViolation(violation, {})
        shortest = shortest_program(bench, violation, self.own)
        places: Mapping[int, Any] = {
            at: places_of(bench, shortest, at, self.own) for at in shortest.faults
        }
        return ShrunkViolation(shortest, places)


def answered(
    bench: FaultBench, trial: RandomTrial, work: Callable[[], ProgramViolation | None]
) -> ProgramViolation | None:
    """Do the work and return what it shows. If a call is never answered, return that as the
    violation.
    """
    try:
        return bench.on_worker(work)
    except UnansweredError as problem:
        bench.renew()
        text = str(problem)
        verdict = broken(USABLE, _UNANSWERED, "an answer", text)
        return trial.violation_of(verdict, text)


def _as_bytes(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True).encode("ascii")
