"""Judges one saver through one API: many callers at once, and the event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.registry import contract
from saverproof.contracts.tables.concurrency import TABLE
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.axes import tell_of_axes
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.workload import able_of
from saverproof.families.concurrency.children import CHILDREN
from saverproof.families.concurrency.contract_ids import (
    FIRST,
    INSTANCES,
    ITERATION,
    LATE,
    LOOP,
    NOTHING,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import EFFORTS, SLOW, SceneEffort
from saverproof.families.concurrency.held.held_putting import hold_puts
from saverproof.families.concurrency.histories.history_playing import Sharing
from saverproof.families.concurrency.history_judging import HISTORIES, HistoryJudging
from saverproof.families.concurrency.record import SceneRecord, ShownProblem
from saverproof.families.concurrency.replaying import replay
from saverproof.families.concurrency.reporting import finding
from saverproof.families.concurrency.scenes.agreeing import Reader, agree
from saverproof.families.concurrency.scenes.iteration import By
from saverproof.families.concurrency.scenes.late_writing import write_late
from saverproof.families.concurrency.scenes.loop_judging import let_wait
from saverproof.families.concurrency.scenes.scene_judging import ask, iterate, race
from saverproof.families.concurrency.upkeep.upkeep_scenes import UPKEEPS, UpkeepJudging
from saverproof.families.items import ItemPlan
from saverproof.families.machines.suiting import able_of as points_of
from saverproof.families.tally import Tally
from saverproof.programs.axes.log import AxisLog
from saverproof.savers.targets.target import Target

_ERROR_OR_HALF = (
    "a read raised beside a deletion: whether it found half of it, or callers disturb each other, "
    "is not told apart"
)


@dataclass(frozen=True, slots=True)
class ConcurrencyFamily:
    """Judges many callers at once: every one of them has to get a right answer."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Play every scene. A breach that may follow from a flaw already found is not reported as
        another flaw.

        Raises:
            HarnessError: no process could be started for the scenes.
        """
        judging = ConcurrencyJudging(plan, target, tally, SceneRecord(tally))
        if tally.wanted:
            judging.run()
        found = {name: one for name, one in judging.record.found.items() if name in tally.wanted}
        implied = implied_by(found)
        shown = [one for name, one in found.items() if name not in implied]
        tally.findings += [finding(plan, target, one) for one in shown]
        for name in implied - {one.problem.contract for one in shown}:
            tally.withdraw(name, "not told apart from what is broken, from which it follows")
        if THREADS not in found and raised_beside_a_deletion(found):
            tally.withdraw(THREADS, _ERROR_OR_HALF)
        tally.sections["concurrency"] = judging.record.as_data()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Replay a recorded scene; answer whether it still breaks the contract."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Return nothing: savers are called in child processes, and no journal is written."""
        return Blame.first(self.table, journal)


def raised_beside_a_deletion(found: Mapping[str, ShownProblem]) -> bool:
    """Return whether a read of a saver that several callers share is called torn because it
    raised.
    """
    torn = found.get(TORN)
    if torn is None or torn.scene.get("sharing") != Sharing.SHARED:
        return False
    events = torn.problem.events
    return any(event.operation.kind.reads and not event.returned for event in events)


def implied_by(found: Mapping[str, ShownProblem]) -> set[str]:
    """Return the contracts whose breach may follow from a breach of those in ``found``."""
    implied = {other for name in found for other in contract(name).implies}
    return implied | {name for name, one in found.items() if one.problem.behind in found}


@dataclass(slots=True)
class ConcurrencyJudging:
    """The judging of one plan."""

    plan: ItemPlan
    target: Target
    tally: Tally
    record: SceneRecord

    def run(self) -> None:
        """Play every scene, each in processes of its own, so that a scene that hangs stops no
        other.
        """
        with CallerBench.of(self.plan, self.target, CHILDREN) as bench:
            effort = self._effort(bench)
            if ITERATION in self.tally.wanted and "list" in self._operations():
                hung = False
                for by in By:
                    # A listing that was left blocks other calls as one that goes on does.
                    hung = (hung and by is By.LEFT) or iterate(bench, by, self.record) or hung
                    self.tally.beat()
            if NOTHING in self.tally.wanted:
                ask(bench, self.record)
            if LOOP in self.tally.wanted:
                let_wait(bench, self.record)
            if INSTANCES in self.tally.wanted:
                self._instances(bench)
            if FIRST in self.tally.wanted:
                file = None
                for number in self.tally.budget.within(range(effort.races), "races"):
                    file = race(bench, number, self.record, file)
                    self.tally.beat()
            # Later reads of the same instance show what a held read leaves behind.
            if self.tally.wanted & {*HISTORIES, INSTANCES}:
                able = able_of({*self.plan.facts["capabilities"], *self._operations()})
                HistoryJudging(bench, self.record, able, effort).run()
            if LATE in self.tally.wanted:
                write_late(bench, self.record)
                if effort.reads and LATE not in self.record.found:
                    hold_puts(bench, able_of(self._operations()), self.record, effort.reads)
            if self.tally.wanted & UPKEEPS and effort.upkeep:
                self._upkeep(bench, effort)

    def _instances(self, bench: CallerBench) -> None:
        able = points_of(self.plan.facts, self.target).union(self._operations())
        log = AxisLog()
        for reader in Reader:
            if reader is Reader.BESIDE or Capability.MANY_PROCESSES in able:
                agree(bench, reader, able, self.record, log)
                self.tally.beat()
        tell_of_axes(self.tally, log, able, heavy=False)

    def _upkeep(self, bench: CallerBench, effort: SceneEffort) -> None:
        able = frozenset({*self.plan.facts["capabilities"], *self._operations()})
        UpkeepJudging(bench, self.record, able).run(effort)

    def _operations(self) -> list[str]:
        operations: list[str] = self.plan.facts["operations"][self.plan.api]
        return operations

    def _effort(self, bench: CallerBench) -> SceneEffort:
        if not bench.slow:
            return EFFORTS[self.plan.profile]
        self.tally.note(f"few scenes, in fresh interpreters each: {bench.harness.reason}")
        return SLOW
