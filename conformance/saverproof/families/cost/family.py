"""Judges what operations cost as a store grows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables.cost import CALLERS_AT_ONCE, TABLE
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.cost.callers import (
    AtOnce,
    counted,
    judge_callers,
    replay_callers,
)
from saverproof.families.cost.effort import sizes_of
from saverproof.families.cost.judging import BrokenLaw, breaches, doubts
from saverproof.families.cost.measuring import CostBench, CostMeasurement
from saverproof.families.cost.questions import QUESTIONS, STORES, WHATEVER_THE_DESIGN, Question
from saverproof.families.cost.replay import replay
from saverproof.families.cost.reporting import finding, laws_as_data
from saverproof.families.cost.stores import GrowingStore
from saverproof.families.cost.witnesses import WITNESSES
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target


@dataclass(frozen=True, slots=True)
class CostFamily:
    """Asks the same questions of stores of several sizes."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Measure through the plan's API, and judge the laws."""
        bench = CostBench(plan, target)
        CostJudging(plan, target, tally, bench).run()
        tally.operations, tally.saver_s = bench.calls, bench.seconds

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Replay a recorded cost, or recorded callers. Return whether the cost still grows, or the
        callers still wait.
        """
        if contract == CALLERS_AT_ONCE.id:
            return replay_callers(plan, target, data)
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Blame the contract in the journal's last line: each line names what was done, and a
        contract.
        """
        last = journal[-1]
        return Blame(contract=last["contract"], steps=(last["step"],), program=last)


@dataclass(slots=True)
class CostJudging:
    """The judging of one plan."""

    plan: ItemPlan
    target: Target
    tally: Tally
    bench: CostBench
    _measured: list[CostMeasurement] = field(default_factory=list)

    def run(self) -> None:
        """Let every store grow that a wanted contract is about."""
        self.bench.beat = self._beat
        asked_of = {question.grown for question in self._questions()}
        stores = [store for store in STORES if store in asked_of]
        for store in self.tally.budget.within(stores, "stores that grow"):
            self._measure(store)
        found = breaches(self._measured)
        for contract in self.table_order():
            if contract == CALLERS_AT_ONCE.id:
                self._judge_callers()
                continue
            self._judge(
                contract, [breach for breach in found if breach.question.contract == contract]
            )
        self.tally.sections["cost"] = {
            "laws": laws_as_data(self._measured, self.plan.api),
            "missing": self.bench.missing,
        }

    @property
    def one_record(self) -> str:
        """Return the target's reason why checkpoints are not stored apart from each other; "" if it
        declares none.
        """
        return self.plan.facts["absent"].get(Capability.SEPARATE_RECORDS, "")

    def table_order(self) -> list[str]:
        """The wanted contracts, in the order of the documentation."""
        wanted = self.tally.wanted
        return [contract.id for contract in TABLE.contracts if contract.id in wanted]

    def _questions(self) -> list[Question]:
        """Return the questions of wanted contracts that the saver's operations allow."""
        wanted, able = self.tally.wanted, self.plan.facts["operations"][self.plan.api]
        in_files = self.target.durable and self.target.server is None
        return [
            one
            for one in QUESTIONS
            if one.contract in wanted
            and one.needs <= set(able)
            and (in_files or not one.is_of_open_files)
        ]

    def _measure(self, store: type[GrowingStore]) -> None:
        questions = [question for question in self._questions() if question.grown is store]
        self._note(f"let {store.__name__} grow", questions[0].contract)
        sizes = sizes_of(store, self.plan.profile, self.plan.facts)
        measured = self.bench.measure(store, sizes, questions)
        self._measured += [self._confirmed(one, store, sizes) for one in measured]

    def _confirmed(
        self, measured: CostMeasurement, store: type[GrowingStore], sizes: Sequence[int]
    ) -> CostMeasurement:
        """Return a measurement, or a second one if all that is broken was counted unsteadily, and
        is not broken then: what other threads do may have come between more answers in the larger
        store by chance.
        """
        broken = {breach.witness for breach in breaches([measured])}
        if not broken or not broken <= measured.unsteady:
            return measured
        (again,) = self.bench.measure(store, sizes, [measured.question])
        if again.trouble or broken & {breach.witness for breach in breaches([again])}:
            return measured
        counts = "; ".join(
            f"{', '.join(map(str, one.counts[name]))} {WITNESSES[name].unit}"
            for name in sorted(broken)
            for one in (measured, again)
        )
        again.varied = f"{measured.question.words} costs more or less each time: {counts}"
        return again

    def _judge_callers(self) -> None:
        self._note("call the saver by several callers at once", CALLERS_AT_ONCE.id)
        self._judge_seen(counted(self.plan, self.target))

    def _judge_seen(self, seen: AtOnce) -> None:
        judge_callers(seen, self.plan, self.target, self.tally)

    def _note(self, step: str, contract: str) -> None:
        """Write into the journal what is done next, in case the process dies in it."""
        if self.plan.journal is not None:
            with Path(self.plan.journal).open("a", encoding="utf-8") as journal:
                journal.write(json.dumps({"step": step, "contract": contract}) + "\n")

    def _judge(self, contract: str, broken: Sequence[BrokenLaw]) -> None:
        tally = self.tally
        asked = [one for one in self._measured if one.question.contract == contract]
        planned = [one for one in self._questions() if one.contract == contract]
        if broken and self.one_record and contract not in WHATEVER_THE_DESIGN:
            reason = f"{Capability.SEPARATE_RECORDS}: {self.one_record}"
            tally.rule_out(contract, f"{reason}; measured: {broken[0].summary}")
            return
        for _ in broken:
            tally.differences.note(contract)
        if broken:
            tally.agreed(contract, len(asked))
            tally.findings.append(finding(self.plan, self.target, broken))
            return
        trouble = next((one.trouble for one in asked if one.trouble), "")
        if trouble:
            tally.not_answered([contract], trouble)
        elif missing := self._missing(asked):
            tally.not_exercised([contract], "; ".join(missing))
        elif asked and len(asked) == len(planned):
            tally.agreed(contract, sum(len(one.sizes) for one in asked))

    def _missing(self, asked: Sequence[CostMeasurement]) -> list[str]:
        """Return what could not be counted for these measurements, with reasons."""
        of_answers = any(not one.question.counts_what_is_kept for one in asked)
        missing = [why for one in asked for why in (one.missing, one.varied) if why]
        missing += doubts(asked)
        return list(dict.fromkeys([*missing, *(self.bench.missing if of_answers else [])]))

    def _beat(self) -> None:
        self.tally.operations = self.bench.calls
        self.tally.beat()
