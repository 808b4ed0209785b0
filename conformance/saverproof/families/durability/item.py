"""Judges the durability of one saver through one API: its processes are killed, power is cut."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from saverproof.contracts.registry import contracts
from saverproof.execution.storage_errors import room_in
from saverproof.families.durability.bench import Bench
from saverproof.families.durability.effort import EFFORTS, SLOW, Effort
from saverproof.families.durability.graph_kills import NO_RERUN, RESUME, Resuming
from saverproof.families.durability.power import POWER, Power
from saverproof.families.durability.record import KILLED, Record
from saverproof.families.durability.reporting import finding
from saverproof.families.durability.shortening import shortened
from saverproof.families.durability.sweep import Sweep
from saverproof.items import Finding, Outcome, Plan
from saverproof.targets.target import Target

FAMILY = "durability"
_EVERY_S = 0.2

Progress = Callable[[dict[str, Any]], None]


def judge(plan: Plan, target: Target, progress: Progress) -> Outcome:
    """Judge the plan's saver. Whatever it does is an answer; nothing of it is raised.

    Raises:
        SaverproofError: no process could be started, or there is no room for workspaces.
    """
    from saverproof.families.functional.judge import applicable

    started = time.perf_counter()
    reasons = {contract.id: applicable(plan, contract) for contract in contracts(FAMILY)}
    wanted = frozenset(name for name, reason in reasons.items() if reason is None)
    item = Item(plan, target, progress, wanted)
    if wanted:
        with room_in(plan.folder):
            item.run()
    found = item.findings
    return Outcome(
        checked={name: times for name, times in item.record.checked.items() if name in wanted},
        findings=tuple(found),
        unknown={
            name: why
            for name, why in item.record.unknown.items()
            if name in wanted - {finding.contract for finding in found}
        },
        inapplicable={
            **item.inapplicable,
            **{name: reason for name, reason in reasons.items() if reason is not None},
        },
        operations=item.record.operations,
        saver_s=0.0,
        total_s=time.perf_counter() - started,
        extra=item.extra,
    )


@dataclass(slots=True)
class Item:
    """The judging of one plan."""

    plan: Plan
    target: Target
    progress: Progress
    wanted: frozenset[str]
    record: Record = field(default_factory=Record)
    findings: list[Finding] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    inapplicable: dict[str, str] = field(default_factory=dict)
    _last_word: float = 0.0

    def run(self) -> None:
        """Kill, cut, resume, and sum up."""
        able = {*self.plan.facts["capabilities"]} - _missing(self.plan)
        with Bench(self.plan, self.target) as bench:
            effort = self._effort(bench)
            if self.wanted & {*KILLED}:
                self._kill(bench, effort, frozenset(able))
            if POWER in self.wanted:
                self._cut_power(bench, effort, frozenset(able))
            if self.wanted & {RESUME, NO_RERUN}:
                self._resume(bench, effort)
        self.extra["crash"] = self.record.as_data()

    def _kill(self, bench: Bench, effort: Effort, able: frozenset[str]) -> None:
        sweep = Sweep(bench, self.record, effort, able, lambda: self._tell(bench))
        sweep.run()
        for contract, trial in self.record.found.items():
            if contract in self.wanted:
                trials = shortened(sweep, contract, trial)
                self.findings.append(finding(self.plan, self.target, contract, trials))
                self._tell(bench)

    def _cut_power(self, bench: Bench, effort: Effort, able: frozenset[str]) -> None:
        power = Power(bench, able, effort.images, lambda: self._tell(bench))
        power.run()
        self.extra["power"] = power.as_data()
        if power.images:
            self.record.checked[POWER] += power.images
        if power.inapplicable:
            self.inapplicable[POWER] = power.inapplicable
        if bench.hangs_too_often:
            self.record.cut_off((POWER,), bench.hangs)
        found = power.finding()
        if found is not None:
            self.findings.append(found)

    def _resume(self, bench: Bench, effort: Effort) -> None:
        resuming = Resuming(
            bench,
            self.plan,
            self.record,
            self.wanted,
            effort.graphs,
            min(effort.afresh, 2),
            lambda: self._tell(bench),
            {},
        )
        resuming.run()
        self.findings += resuming.scripted()

    def _effort(self, bench: Bench) -> Effort:
        if not bench.slow:
            return EFFORTS[self.plan.profile]
        self.record.note(f"few kills, in fresh interpreters each: {bench.harness.reason}")
        return SLOW

    def _tell(self, bench: Bench) -> None:
        now = time.perf_counter()
        if now - self._last_word >= _EVERY_S:
            self._last_word = now
            self.progress({"operations": self.record.operations, "kills": bench.kills})


def _missing(plan: Plan) -> set[str]:
    """Operations that the saver has, but not in this API."""
    there = {*plan.facts["operations"][plan.api]}
    known = {name for operations in plan.facts["operations"].values() for name in operations}
    return known - there


__all__ = ["judge"]
