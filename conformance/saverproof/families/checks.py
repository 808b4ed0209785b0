"""A family whose contracts are each judged by one function, for other distributions to use."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from saverproof.contracts.family_table import FamilyTable
from saverproof.errors import OpeningError, describe
from saverproof.families.answer import Blame, ReplayAnswer, Status, unclear
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.execution.store import Store
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.target import Target

WIDTH = 1_200
"""Characters of a value that a finding shows."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Something that a check found wrong, in words."""

    summary: str
    expected: str
    observed: str


@dataclass(slots=True)
class CheckContext:
    """The argument of a check: a saver on an empty store, which also takes the check's results.

    Attributes:
        store: the opened saver; ``store.drivers[0]`` calls it through the API that is judged, and
            ``store.reopen()`` closes and opens it.
        plan: the item's plan, with the facts about the saver.
        agreements: number of times that the saver kept the contract.
        disagreements: what it did otherwise.
        steps: what was done, for the report.
        script: returns the source of a standalone script that shows the first disagreement, or ""
            if there is none. It is called once, after the saver was closed.
    """

    store: Store
    plan: ItemPlan
    agreements: int = 0
    disagreements: list[Disagreement] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    script: Callable[[], str] = str

    @property
    def saver(self) -> Any:
        """The saver under test."""
        return self.store.saver

    def call(self, operation: str, *arguments: Any, **named: Any) -> Any:
        """Call an operation ("get_tuple") through the API that is judged, and return its result."""
        return self.call_as(operation, operation, *arguments, **named)

    def call_as(self, words: str, operation: str, *arguments: Any, **named: Any) -> Any:
        """Call an operation as ``call`` does; the report tells the step in these words."""
        self.steps.append(words)
        return self.store.drivers[0].invoke(operation, *arguments, **named)

    def agreed(self, times: int = 1) -> None:
        """Report that the saver kept the contract, so many times."""
        self.agreements += times

    def differed(self, summary: str, *, expected: object, observed: object) -> None:
        """Report that the saver broke the contract."""
        found = Disagreement(summary, str(expected)[:WIDTH], str(observed)[:WIDTH])
        self.disagreements.append(found)


Check = Callable[[CheckContext], None]
"""A function that checks one contract on an empty store. If it reports nothing, the contract counts
as not exercised; if it raises, the contract is unknown.
"""


@dataclass(frozen=True, slots=True)
class CheckFamily:
    """A family that judges each contract of a table by the check under its id, on its own store.

    Raises:
        ValueError: a contract of the table has no check, or a check has no contract.
    """

    table: FamilyTable
    checks: Mapping[str, Check]

    def __post_init__(self) -> None:
        ids = {contract.id for contract in self.table.contracts}
        if odd := sorted(ids ^ self.checks.keys()):
            raise ValueError(f"found {odd[0]!r} without its check or contract, expected both")

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Run the check of every contract that applies."""
        for contract in self.table.contracts:
            if contract.id in tally.wanted:
                self._judge(plan, target, tally, contract.id)
                tally.beat()

    def _judge(self, plan: ItemPlan, target: Target, tally: Tally, contract: str) -> None:
        if plan.journal is not None:
            with Path(plan.journal).open("a", encoding="utf-8") as journal:
                journal.write(json.dumps({"check": contract}) + "\n")
        context, why = self._checked(plan, target, contract)
        tally.operations += context.store.total_calls
        tally.saver_s += context.store.total_seconds
        self._tell(plan, tally, contract, context, why)

    def _tell(
        self, plan: ItemPlan, tally: Tally, contract: str, context: CheckContext, why: str | None
    ) -> None:
        if context.disagreements:
            first = context.disagreements[0]
            script = _script_of(context)
            tally.agreed(contract, context.agreements + len(context.disagreements))
            tally.findings.append(
                Finding(
                    contract=contract,
                    api=plan.api,
                    phase=self.table.phase,
                    summary=first.summary,
                    expected=first.expected,
                    observed=first.observed,
                    steps=tuple(context.steps),
                    program={"check": contract},
                    reproducer=script,
                )
            )
        elif why is not None:
            tally.unsure((contract,), why)
        else:
            tally.agreed(contract, context.agreements)

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Run a contract's check again, and return whether it still finds something wrong.

        Raises:
            ValueError: the data names no check of this family.
            OpeningError: the saver could not be opened or closed.
        """
        if not isinstance(data, Mapping) or data.get("check") not in self.checks:
            raise ValueError(f"found {data!r:.60}, expected an object with the id of a check")
        context, why = self._checked(plan, target, data["check"])
        if context.disagreements:
            first = context.disagreements[0]
            return ReplayAnswer(Status.FAILING, first.summary, first.expected, first.observed)
        if why is not None:
            return unclear(why)
        if not context.agreements:
            return unclear("the check says nothing of the contract")
        return ReplayAnswer(Status.FIXED, "the check finds nothing wrong")

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Blame the contract during whose check the process died."""
        last = journal[-1]
        return Blame(contract=last["check"], program=last)

    def _checked(
        self, plan: ItemPlan, target: Target, contract: str
    ) -> tuple[CheckContext, str | None]:
        """Run a check, and return its context. If it raised, return also why nothing is known."""
        apis = ("sync", "async") if plan.api == "crossed" else (plan.api,)
        with loop_for(plan.api) as loop, Store(target, Path(plan.folder), loop, apis) as store:
            context = CheckContext(store, plan)
            try:
                self.checks[contract](context)
            except OpeningError:
                raise
            except Exception as error:  # noqa: BLE001 - a stranger's check, and a stranger's saver
                return context, f"its check raised {describe(error)}"
        return context, None


def _script_of(context: CheckContext) -> str:
    """Return the script of a check; "" if it raises, which the steps then say."""
    try:
        return context.script()
    except Exception as error:  # noqa: BLE001 - a stranger's check
        context.steps.append(f"its script raised {describe(error)}")
        return ""
