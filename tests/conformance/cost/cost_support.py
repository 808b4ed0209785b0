"""Judges what the operations of a saver cost."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from tests.conformance.cost import cost_savers
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, facts_of

from saverproof.contracts.registry import contracts
from saverproof.families.cost import reporting
from saverproof.families.cost.family import CostFamily
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.families.tally import Tally
from saverproof.process.scratch import in_memory, scratch_folder
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef

ALL = {contract.id for contract in contracts("cost")}
CALLERS = "cost/callers-at-once"


def plan_for(where: str, folder: Path, api: str = "sync", **more: Any) -> tuple[ItemPlan, Any]:
    module, _, attribute = where.partition(":")
    ref = TargetRef(where, module, None, attribute)
    found = load(ref)
    facts: Any = facts_from(EVERY_OPERATION, durable=found.durable)
    if not where.startswith(cost_savers.__name__):
        facts = facts_of(found, folder)
    for capability, why in found.capabilities.items():
        facts["capabilities"].remove(str(capability))
        facts["absent"][str(capability)] = why
    more = {"profile": "quick", **more}
    return ItemPlan(ref.to_json(), facts, "cost", api, seed=0, folder=str(folder), **more), found


def judged(
    where: str, folder: Path, api: str = "sync", only: Collection[str] = ALL, **more: Any
) -> Outcome:
    plan, found = plan_for(where, folder, api, **more)
    tally = Tally(plan)
    for contract in ALL - {*only}:
        tally.rule_out(contract, "left out")
    CostFamily().judge(plan, found, tally)
    return tally.outcome()


@cache
def judged_whole(where: str, api: str = "sync") -> Outcome:
    """Without scripts, once for all tests."""
    with (
        mock.patch.object(reporting, "reproducer", without_script),
        scratch_folder(root=in_memory()) as folder,
    ):
        return judged(where, folder, api)


def without_script(*_: Any) -> str:
    return ""


def blamed(outcome: Outcome) -> set[str]:
    return {finding.contract for finding in outcome.findings}


def the(outcome: Outcome, contract: str) -> Finding:
    return next(found for found in outcome.findings if found.contract == contract)
