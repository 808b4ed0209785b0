"""Judge the functional families through one API of one saver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saverproof.contracts.family_table import FamilyTable
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.functional.effort import EFFORTS
from saverproof.families.functional.judging import FunctionalJudging
from saverproof.families.functional.replay import replay
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.judging.attribution import answered
from saverproof.judging.scenes.scene import Scene
from saverproof.programs.steps.codec import from_json, step_from_json
from saverproof.programs.steps.definitions import (
    GetTuple,
    ListTuples,
    Put,
    PutHistory,
    PutWrites,
    WalkPages,
)
from saverproof.programs.steps.describing import describe
from saverproof.savers.targets.target import Target
from saverproof.scripts import death_reproducer

_EVERYWHERE = (Put, PutHistory, PutWrites, GetTuple, ListTuples, WalkPages)
"""Kinds of steps without which almost nothing can be judged."""


@dataclass(frozen=True, slots=True)
class FunctionalFamily:
    """A family whose contracts are judged by programs: each answer is compared with the model's."""

    table: FamilyTable

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Run the programs of every theme, and follow up what they show."""
        FunctionalJudging(plan, target, tally, EFFORTS[plan.profile]).run()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Run a recorded program again, and return whether it still breaks the contract."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Blame the contract of the last step: the journal has the steps of one program."""
        steps = list(journal)
        last = step_from_json(steps[-1])
        contract = answered(last)
        program = from_json(steps)
        return Blame(
            contract=contract,
            steps=tuple(describe(step) for step in program),
            program=steps,
            reproducer=death_reproducer(target, program, plan.api, name=contract),
            fatal="" if isinstance(last, _EVERYWHERE) else type(last).__name__,
            of_one_contract=isinstance(last, Scene),
        )
