"""The tally of one item: the results of judging it, in every family."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, TypeVar

from saverproof.contracts.applicability import why_inapplicable
from saverproof.contracts.registry import contracts
from saverproof.families.budget import Budget
from saverproof.families.items import Finding, ItemPlan, Outcome, Unsettled
from saverproof.families.machines.explaining.differences import Differences

Progress = Callable[[dict[str, Any]], None]
_EVERY_S = 0.2
"""Seconds between two reports of progress: often enough for people, and next to no work."""


class Ranked(Protocol):
    """Something that shows a broken contract."""

    @property
    def rank(self) -> tuple[int, ...]:
        """A sort key: lower if it is plainer to see and shorter to tell."""


R = TypeVar("R", bound=Ranked)


def keep_plainest(known: dict[str, R], name: str, shown: R) -> None:
    """Keep ``shown`` under a name, unless something plainer is kept there."""
    if name not in known or shown.rank < known[name].rank:
        known[name] = shown


def hidden(why: str, behind: str) -> str:
    """Return the reason why nothing is known of a contract: the breach of the contracts ``behind``
    hides it.
    """
    return f"{why}: {behind} stands in the way"


def unsettled(times: int, steps: Sequence[str], program: Any, how: str = "") -> Unsettled:
    """Return differences that nothing explains, with the reason in words; see
    :meth:`Tally.unsettle`.
    """
    count = "1 difference was" if times == 1 else f"{times} differences were"
    why = f"{count} seen that no finding explains" + (f": {how}" if how else "")
    return Unsettled(times=times, why=why, steps=[*steps], program=program)


def tell_nobody(figures: dict[str, Any]) -> None:
    """Ignore progress."""


@dataclass(slots=True)
class Tally:
    """The results of judging a plan, while they are collected. Only ``outcome`` decides the
    verdicts.

    Attributes:
        plan: the plan that is judged.
        progress: called now and then with how far the item is.
        checked: contract id -> how often it was judged.
        findings: the violations, in the order in which they are shown.
        unknown: contract id -> why nothing can be said of it.
        notes: lines on the item as a whole, for the report.
        sections: further sections of the report, by name.
        differences: every difference that was seen.
        unsettled: contract id -> the unexplained differences that may break it.
        handed: the violations of other families' contracts.
        operations: number of the saver's calls that were judged.
        saver_s: seconds spent inside the saver, if they are measured.
        budget: the time that the item may take, and what was left out for lack of it.
    """

    plan: ItemPlan
    progress: Progress = tell_nobody
    checked: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sections: dict[str, Any] = field(default_factory=dict)
    differences: Differences = field(default_factory=Differences)
    unsettled: dict[str, Unsettled] = field(default_factory=dict)
    handed: list[Finding] = field(default_factory=list)
    operations: int = 0
    saver_s: float = 0.0
    budget: Budget = field(init=False)
    _inapplicable: dict[str, str] = field(default_factory=dict)
    _ruled_out: dict[str, str] = field(default_factory=dict)
    _unexercised: dict[str, str] = field(default_factory=dict)
    _given_up: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    _hidden_by: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _started: float = field(default_factory=time.perf_counter)
    _last_beat: float = 0.0

    def __post_init__(self) -> None:
        self.budget = Budget(self.plan.budget_s)
        for contract in contracts(self.plan.family):
            why = why_inapplicable(contract, self.plan.facts)
            if why is not None:
                self._inapplicable[contract.id] = why

    @property
    def applicable(self) -> frozenset[str]:
        """The contracts of the family that the facts about the saver do not rule out."""
        names = (contract.id for contract in contracts(self.plan.family))
        return frozenset(name for name in names if name not in self._inapplicable)

    @property
    def wanted(self) -> frozenset[str]:
        """The applicable contracts that judging has not ruled out."""
        return self.applicable - self._ruled_out.keys()

    def agreed(self, contract: str, times: int = 1) -> None:
        """Count that the saver was judged by a contract, so many times."""
        self.checked[contract] += times

    def unsure(self, names: Iterable[str], why: str) -> None:
        """Mark these contracts as unknown. The first reason given for each stays."""
        for name in names:
            self.unknown.setdefault(name, why)

    def unsettle(
        self, contract: str, times: int, steps: Sequence[str], program: Any, how: str = ""
    ) -> None:
        """Record differences that may break a contract and that no finding predicts.

        ``program``, in words ``steps``, is the shortest that shows one; ``how`` says in words how
        it does.
        """
        self.unsettled[contract] = unsettled(times, steps, program, how)

    def withdraw(self, contract: str, why: str) -> None:
        """Mark a contract as unknown although it was judged."""
        self.checked.pop(contract, None)
        self.unknown[contract] = why

    def rule_out(self, contract: str, why: str) -> None:
        """Mark a contract as not applicable, unless it was judged all the same."""
        self._ruled_out.setdefault(contract, why)

    def not_exercised(self, names: Iterable[str], why: str) -> None:
        """Mark contracts as not exercised, because the kit has no way to judge them.

        ``why`` says what would give it one. A breach that is seen all the same is a finding.
        """
        for name in names:
            self._unexercised.setdefault(name, why)

    def hide(self, names: Iterable[str], why: str, behind: Iterable[str]) -> None:
        """Mark contracts as not exercised, because those ``behind`` are broken."""
        in_the_way = tuple(behind)
        for name in names:
            if name not in self._unexercised:
                self._unexercised[name] = why
                self._hidden_by[name] = in_the_way

    def not_answered(self, names: Iterable[str], why: str) -> None:
        """Mark contracts as unknown, because calls that they need are answered wrongly."""
        for name in names:
            if name not in self.unknown:
                self.unknown[name] = why
                self._hidden_by[name] = ()

    def give_up(self, contract: str, why: str, *behind: str) -> None:
        """Record that a check could not judge a contract, because those ``behind`` are broken.

        If no other check judges it either, it is not exercised.
        """
        self._given_up.setdefault(contract, (hidden(why, ", ".join(behind)), behind))

    def note(self, text: str) -> None:
        """Add a line on the item as a whole, unless it is there."""
        if text not in self.notes:
            self.notes.append(text)

    def beat(self, **figures: int) -> None:
        """Report operations and further figures as progress, unless a report was made just now."""
        now = time.perf_counter()
        if now - self._last_beat >= _EVERY_S:
            self._last_beat = now
            self.progress({"operations": self.operations, **figures})

    def keep(
        self,
        findings: Sequence[Finding],
        checked: Mapping[str, int],
        *,
        settled: Collection[str],
        unsettled: Mapping[str, Unsettled],
    ) -> None:
        """Report what is known already, in case this process does not survive the rest.

        That is: the findings, how often contracts were judged, which of them are settled for good,
        and what nothing explains so far.
        """
        self.progress(
            {
                "kept": {
                    "findings": [asdict(finding) for finding in findings],
                    "checked": dict(checked),
                    "settled": sorted(settled),
                    "unsettled": dict(unsettled),
                }
            }
        )

    def keep_settled(self, names: Collection[str]) -> None:
        """Report everything that is known after a part of the work that settles these contracts."""
        sure = self.checked.keys() & names - self.unknown.keys() - self._unexercised.keys()
        self.keep(self.findings, self.checked, settled=sure, unsettled=self.unsettled)

    def outcome(self) -> Outcome:
        """Return the outcome of the item.

        A finding outweighs "unknown", which outweighs "not exercised". A contract that was judged
        applies, whatever ruled it out.
        """
        applicable = self.applicable
        findings = tuple(found for found in self.findings if found.contract in applicable)
        found = {finding.contract for finding in findings}
        checked = {n: times for n, times in self.checked.items() if times and n in applicable}
        ruled_out = {n: w for n, w in self._ruled_out.items() if n not in found | checked.keys()}
        left = applicable - found - ruled_out.keys()
        for name in left & self._given_up.keys() - checked.keys():
            self.hide([name], *self._given_up[name])
        if self.budget.left_out:
            self.not_exercised((n for n in left if n not in checked), self.budget.reason)
        if self.budget.limit_s is not None:
            self.sections["budget"] = self.budget.as_data()
        account = self.differences.account([f.contract for f in findings], applicable)
        for name in account.unknown.keys() & left - self.unknown.keys() - self.unsettled.keys():
            self.unsettle(name, account.unknown[name], account.examples.get(name, ()), None)
        return Outcome(
            checked=checked,
            findings=findings,
            unknown={name: why for name, why in self.unknown.items() if name in left},
            inapplicable=ruled_out | self._inapplicable,
            unexercised={name: why for name, why in self._unexercised.items() if name in left},
            operations=self.operations,
            saver_s=self.saver_s,
            total_s=time.perf_counter() - self._started,
            extra=self.sections | {"differences": account.as_data()},
            unsettled={n: seen for n, seen in self.unsettled.items() if n not in found},
            handed=tuple(self.handed),
            hidden_by={name: behind for name, behind in self._hidden_by.items() if name in left},
        )
