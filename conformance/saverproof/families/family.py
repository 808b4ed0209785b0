"""What every family of contracts can do: the one way in which items are judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from saverproof.contracts.family_table import FamilyTable
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.tally import Tally
from saverproof.items import ItemPlan
from saverproof.targets.target import Target


@runtime_checkable
class Family(Protocol):
    """One family: its table, and how its contracts are judged, replayed and blamed."""

    @property
    def table(self) -> FamilyTable:
        """Name, title, phase, contracts, APIs, and what its items need."""

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Judge the plan's saver, and tell the tally. Whatever the saver does is an answer.

        Raises:
            SaverproofError: the target could not be opened, or there is no room for workspaces.
        """

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Whether the recorded ``data``, a finding's ``program``, still breaks the contract.

        Raises:
            ValueError: the data is of another kind; the text says what was found and expected.
            OpeningError: the saver could not be opened or closed.
        """

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """What to say of a saver that ended or hung the process that judged it.

        ``journal`` holds the lines that were written to ``plan.journal``, at least one; the last
        tells what was not survived.
        """
