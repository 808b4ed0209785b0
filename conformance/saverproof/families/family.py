"""The protocol of all families of contracts: the one way in which items are judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from saverproof.contracts.family_table import FamilyTable
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target


@runtime_checkable
class Family(Protocol):
    """A family: its table, and how its contracts are judged, replayed and blamed."""

    @property
    def table(self) -> FamilyTable:
        """The family's name, title, phase, contracts and APIs, and what its items need."""

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Judge the plan's saver, and fill the tally. No error of the saver is raised.

        Raises:
            SaverproofError: the target could not be opened, or there is no room for workspaces.
        """

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Return whether the recorded ``data``, a finding's ``program``, still breaks the contract.

        Raises:
            ValueError: the data is of another kind; the text says what was found and expected.
            OpeningError: the saver could not be opened or closed.
        """

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Blame a contract for a saver that ended or hung the process that judged it.

        ``journal`` holds the lines that were written to ``plan.journal``, at least one. The last
        one names the step in which the process died.
        """
