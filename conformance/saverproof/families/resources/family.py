"""Judges whether a saver keeps resources after its operations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables.resources import TABLE
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.items import ItemPlan
from saverproof.families.resources.effort import times_of
from saverproof.families.resources.holdings import unavailable
from saverproof.families.resources.judging import (
    Exhaustion,
    exhaustion,
    leaks,
)
from saverproof.families.resources.measuring import (
    ResourceBench,
    ResourceMeasurement,
    contract_of,
)
from saverproof.families.resources.replay import replay
from saverproof.families.resources.reporting import (
    finding,
    finding_of_exhaustion,
    holdings_as_data,
)
from saverproof.families.resources.work import (
    NEEDS,
    WORKS,
    CancelledHistories,
    Cancelling,
    Failing,
    Openings,
    Work,
)
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target

_A_WHILE = Cancelling.last_wait + 2
"""The repetitions after which the end of a process is blamed on what they leave. By then a call was
cancelled at each of its waits, and a lock that it keeps has shown: other families tell that. The
default pools of most drivers, of ten connections and more, are not exhausted before.
"""
_HISTORY = "aget_delta_channel_history"
_SOON = f"done fewer than {_A_WHILE} times, which is too few to blame it on what stays"


@dataclass(frozen=True, slots=True)
class ResourcesFamily:
    """Repeats the same work, again and again."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Repeat work through the plan's API, and look at what the process still holds."""
        if (why := unavailable()) is not None:
            tally.not_exercised(sorted(tally.wanted), why)
            return
        bench = ResourceBench(plan, target)
        ResourcesJudging(plan, target, tally, bench).run()
        tally.operations, tally.saver_s = bench.calls, bench.seconds

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Replay a recorded leak; answer whether it still shows."""
        return replay(plan, target, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Blame the contract of the work if it had been repeated a while: what ends a process
        sooner is no leak. Each line of the journal names a kind of work.
        """
        last = journal[-1]
        done = WORKS[last["work"]].__doc__
        if "repeated" not in last:
            return Blame(contract="", why=f"{done}, {_SOON}")
        blamed = contract_of(WORKS[last["work"]])
        return Blame(contract=blamed, steps=(f"do many times: {done}",), program=last)


@dataclass(slots=True)
class ResourcesJudging:
    """Judges one plan."""

    plan: ItemPlan
    target: Target
    tally: Tally
    bench: ResourceBench
    _measured: list[ResourceMeasurement] = field(default_factory=list)
    _exhausted: list[Exhaustion] = field(default_factory=list)
    _work: type[Work] = Work
    _repeated: int = 0
    """How often the current work has been done."""

    def run(self) -> None:
        """Do every kind of work that the saver supports."""
        self.bench.beat = self._beat
        works = [work for work in self._works() if contract_of(work) in self.tally.wanted]
        for work in self.tally.budget.within(works, "works that are repeated"):
            if not (issubclass(work, Failing) and self._cannot_go_on):
                self._measure(work)
        for contract in dict.fromkeys(map(contract_of, works)):
            self._judge(contract, [work for work in works if contract_of(work) == contract])
        held = holdings_as_data(self._measured, self.plan.api)
        self.tally.sections["resources"] = {"held": held, "notes": self._not_failed()}

    def _not_failed(self) -> list[str]:
        """Return a line on each kind of work that was to fail, and could not be made to."""
        why = "no call of a known driver was seen"
        return [
            f"not tried, as {why}: {one.work.__doc__}" for one in self._measured if one.unstruck
        ]

    def _works(self) -> list[type[Work]]:
        able = self.plan.facts["operations"][self.plan.api]
        unable: set[type[Work]] = set()
        if self.plan.api == "sync":
            unable |= {work for work in WORKS.values() if issubclass(work, Cancelling)}
        elif not self.bench.overrides(_HISTORY):
            # The base class's method asks aget_tuple again and again, which is cancelled by itself.
            unable.add(CancelledHistories)
        if not self.target.durable:
            # A store in memory is empty when it is opened again.
            unable.add(Openings)
        return [
            work
            for work in WORKS.values()
            if work not in unable and NEEDS.get(work, frozenset()) <= {*able}
        ]

    def _measure(self, work: type[Work]) -> None:
        times = times_of(work, self.plan.profile, self.plan.facts)
        self._work, self._repeated = work, 0
        self._note({})
        measured = self.bench.measure(work, times)
        self._measured.append(measured)
        if measured.done_elsewhere and measured.done >= work.fewest_done:
            self._repeated = 0
            again = self.bench.measure(work, [measured.done + 1])
            self._exhausted += filter(None, [exhaustion(measured, again)])

    @property
    def _cannot_go_on(self) -> bool:
        """True if the saver could not go on after calls that failed: other calls would only be
        waited for as long.
        """
        return any(issubclass(one.work, Failing) and one.error for one in self._measured)

    def _note(self, more: dict[str, int]) -> None:
        """Write a line to the journal, if there is one."""
        if self.plan.journal is not None:
            with Path(self.plan.journal).open("a", encoding="utf-8") as journal:
                journal.write(json.dumps({"work": self._work.__name__, **more}) + "\n")

    def _judge(self, contract: str, works: Sequence[type[Work]]) -> None:
        measured = [one for one in self._measured if one.work in works]
        tally, found = self.tally, leaks(measured)
        exhausted = [one for one in self._exhausted if one.work in works]
        for _ in (*found, *exhausted):
            tally.differences.note(contract)
        if found:
            tally.findings.append(finding(self.plan, self.target, found))
        if exhausted:
            tally.findings.append(finding_of_exhaustion(self.plan, self.target, exhausted))
        trouble = next((one.trouble for one in measured if one.trouble), "")
        if found or exhausted:
            tally.agreed(contract, len(measured))
        elif trouble:
            tally.not_answered([contract], trouble)
        elif len(measured) == len(works):
            tally.agreed(contract, sum(one.times[-1] for one in measured))

    def _beat(self) -> None:
        self._repeated += 1
        if self._repeated == _A_WHILE:
            self._note({"repeated": _A_WHILE})
        self.tally.operations = self.bench.calls
        self.tally.beat()
