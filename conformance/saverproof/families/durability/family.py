"""Judges the durability of one saver through one API: its processes are killed, power is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables.durability import TABLE
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.durability.children import CHILDREN
from saverproof.families.durability.effort import EFFORTS, SLOW, KillEffort
from saverproof.families.durability.graphs.graph_kills import NO_RERUN, RESUME, Resuming
from saverproof.families.durability.kills.bench import KillBench
from saverproof.families.durability.kills.record import KILLED, REOPENS, KillRecord
from saverproof.families.durability.kills.shortening import shortened
from saverproof.families.durability.kills.sweep import KillSweep
from saverproof.families.durability.power.power_cuts import Power, longer_run
from saverproof.families.durability.power.power_disks import CUT, KEEPS, POWER
from saverproof.families.durability.power.power_reporting import power_findings, power_section
from saverproof.families.durability.replay import replay
from saverproof.families.durability.reporting import finding
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally, hidden
from saverproof.families.untried import why_untried
from saverproof.savers.execution.storage_errors import room_in
from saverproof.savers.targets.target import Target


@dataclass(frozen=True, slots=True)
class DurabilityFamily:
    """Kills processes at work and cuts the power, and has other processes look at the stores."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Kill, cut the power, resume graphs, and record the results in the tally."""
        if tally.wanted:
            with room_in(plan.folder):
                DurabilityJudging(plan, target, tally, KillRecord(tally)).run()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Replay a recorded kill or power cut; answer whether it still breaks the contract."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Return nothing: savers are called in child processes, and no journal is written."""
        return Blame.first(self.table, journal)


@dataclass(slots=True)
class DurabilityJudging:
    """The judging of one plan."""

    plan: ItemPlan
    target: Target
    tally: Tally
    record: KillRecord

    def run(self) -> None:
        """Kill processes, cut the power, resume graphs, and sum up."""
        wanted = self.tally.wanted
        able = {*self.plan.facts["capabilities"]} - _missing(self.plan)
        with KillBench.of(self.plan, self.target, CHILDREN) as bench:
            effort = self._effort(bench)
            if wanted & {*KILLED}:
                self._kill(bench, effort, frozenset(able))
                self.tally.keep_settled(KILLED)
            if wanted & {*CUT}:
                self._cut_power(bench, effort, frozenset(able))
                self.tally.keep_settled({*KILLED, *CUT})
            if wanted & {RESUME, NO_RERUN}:
                self._resume(bench, effort)
            if bench.forgets and REOPENS in wanted - self.record.found.keys():
                # Nothing here says what is broken by that; a kill is not.
                how = "a put returned, and is not there, though nothing was killed"
                self.tally.unsettle(
                    REOPENS, 1, ("put a checkpoint", "open the store again"), None, how
                )
        self.tally.sections["crash"] = self.record.as_data()
        if self.record.places and not self.record.below:
            self.tally.sections["faults"] = {"untried": why_untried(self.target)}

    def _kill(self, bench: KillBench, effort: KillEffort, able: frozenset[str]) -> None:
        sweep = KillSweep(bench, self.record, effort, able, lambda: self._beat(bench))
        sweep.run()
        self.record.settle()
        for contract, trial in self.record.found.items():
            if contract in self.tally.wanted:
                trials = shortened(sweep, contract, trial)
                # Its script kills the server as well, and is run: others use that of the run.
                with bench.server_for(trials[0].place):
                    found = finding(self.plan, self.target, contract, trials)
                self.tally.findings.append(found)
                self._beat(bench)

    def _cut_power(self, bench: KillBench, effort: KillEffort, able: frozenset[str]) -> None:
        power = Power(
            bench,
            longer_run(self.plan.seed, able),
            effort.images,
            lambda: self._beat(bench),
            self.tally.budget,
            effort.syncs,
            effort.disks,
        )
        power.run()
        self.tally.sections["power"] = power_section(power)
        for disks in (power.disks, power.failing):
            self.tally.agreed(POWER, disks.images)
            self.tally.agreed(KEEPS, disks.after_acknowledged)
            for contract, images in disks.bad.items():
                self.tally.differences.note(contract, images)
        if POWER in power.flaws:
            self.tally.give_up(KEEPS, "no disk that work was acknowledged on can be used", POWER)
        if power.unseen:
            self.tally.not_exercised(CUT, power.unseen)
        if bench.hangs_too_often:
            self.record.cut_off(CUT, bench.hangs)
        self.tally.findings += power_findings(power, self.tally.wanted)

    def _resume(self, bench: KillBench, effort: KillEffort) -> None:
        resuming = Resuming(
            bench,
            self.plan,
            self.record,
            self.tally.wanted,
            effort.graphs,
            min(effort.afresh, 2),
            lambda: self._beat(bench),
            {},
        )
        resuming.run()
        self.tally.findings += resuming.scripted()
        if REOPENS in self.record.found:
            # Graphs are killed between their calls, which seldom leaves such a store.
            why = "kills left a store that cannot be used, in which no graph goes on"
            self.tally.hide((RESUME, NO_RERUN), hidden(why, REOPENS), [REOPENS])

    def _effort(self, bench: KillBench) -> KillEffort:
        if not bench.slow:
            return EFFORTS[self.plan.profile]
        self.tally.note(f"few kills, in fresh interpreters each: {bench.harness.reason}")
        return SLOW

    def _beat(self, bench: KillBench) -> None:
        self.tally.beat(kills=bench.kills)


def _missing(plan: ItemPlan) -> set[str]:
    """Return the operations that the saver has, but not in this API."""
    there = {*plan.facts["operations"][plan.api]}
    known = {name for operations in plan.facts["operations"].values() for name in operations}
    return known - there
