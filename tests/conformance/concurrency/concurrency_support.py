"""Judges the concurrency of a saver with as many scenes as a test asks for."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from saverproof.capability import Capability
from saverproof.families.concurrency.effort import EFFORTS, SceneEffort
from saverproof.families.concurrency.family import ConcurrencyFamily
from saverproof.families.items import Finding, ItemPlan, Outcome
from saverproof.families.tally import Tally
from saverproof.savers.facts import METHODS
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target

BUNDLED = "saverproof_savers.targets:sqlite"
SCENES_ALONE = SceneEffort(shared=0, instances=0, processes=0, races=0)


def judged(
    where: str,
    folder: Path,
    api: str,
    monkeypatch: Any,
    effort: SceneEffort,
    only: str | None = None,
) -> Outcome:
    module, _, attribute = where.partition(":")
    ref = TargetRef(where, module, None, attribute)
    made = load(ref)
    facts = facts_of(made)
    monkeypatch.setitem(EFFORTS, "quick", effort)
    plan = ItemPlan(ref.to_json(), facts, "concurrency", api, "quick", 0, str(folder))
    tally = Tally(plan)
    for name in tally.wanted - {only} if only else ():
        tally.rule_out(name, "not asked for")
    ConcurrencyFamily().judge(plan, made, tally)
    return tally.outcome()


def facts_of(made: Target) -> dict[str, Any]:
    return {
        "durable": made.durable,
        "capabilities": [str(capability) for capability in Capability],
        "absent": {},
        "operations": {name: list(methods) for name, methods in METHODS.items()},
        "packages": {"langgraph-checkpoint": version("langgraph-checkpoint")},
        "opens_ms": 5.0,
    }


def blamed(outcome: Outcome) -> set[str]:
    return {finding.contract for finding in outcome.findings}


def the(outcome: Outcome, name: str) -> Finding:
    return next(f for f in outcome.findings if f.contract == f"concurrency/{name}")
