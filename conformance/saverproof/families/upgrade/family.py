"""Judges how a saver handles stores that older releases wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables.upgrade import TABLE
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.families.upgrade.judging import UpgradeJudging
from saverproof.families.upgrade.replay import replay
from saverproof.process import heartbeat
from saverproof.savers.targets.target import Target


@dataclass(frozen=True, slots=True)
class UpgradeFamily:
    """Judges two releases on one store."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Judge the installed release together with each of the older releases that were asked
        for.
        """
        # No saver is called here, and the processes in which they are have a time limit.
        with heartbeat.beating():
            UpgradeJudging(plan, target, tally).run()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Replay a recorded finding; answer whether it still shows."""
        with heartbeat.beating():
            return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Return nothing: no saver is called in the process that judges, so none can end it."""
        return Blame.first(self.table, journal)
