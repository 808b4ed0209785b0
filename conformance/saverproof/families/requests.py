"""What the judge process is asked to do for an item."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from saverproof.items import Plan
from saverproof.targets.loading import load
from saverproof.targets.opening import drop
from saverproof.targets.reference import TargetRef
from saverproof.workspace import Workspace

Progress = Callable[[dict[str, Any]], None]


def judge(data: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Judge ``data["plan"]``; the outcome as plain data."""
    from saverproof.families.functional.judge import judge as judge_item

    plan = Plan.from_json(data["plan"])
    target = load(TargetRef.from_json(plan.target))
    return asdict(judge_item(plan, target, progress))


def blame(data: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Which contract a saver violated that died or hung at the last of ``data["steps"]``.

    The answer has the fields of a finding that follow from the program alone.
    """
    from saverproof.families.functional.judge import OTHER_JUDGES

    plan = Plan.from_json(data["plan"])
    if plan.family in OTHER_JUDGES:
        return _blame_elsewhere(plan, data["steps"])
    return _blame_of_program(plan, data["steps"])


def _blame_of_program(plan: Plan, steps: list[Any]) -> dict[str, Any]:
    from saverproof.families.functional.judge import blame_of_death
    from saverproof.scripts import death_reproducer
    from saverproof.steps.codec import from_json
    from saverproof.steps.describing import describe

    contract = blame_of_death(plan, steps)
    program = from_json(steps)
    target = load(TargetRef.from_json(plan.target))
    return {
        "contract": contract,
        "steps": [describe(step) for step in program],
        "program": steps,
        "reproducer": death_reproducer(target, program, plan.api, name=contract),
    }


def _blame_elsewhere(plan: Plan, steps: list[Any]) -> dict[str, Any]:
    """The judge of a family with other programs says itself what its journal means."""
    from importlib import import_module

    from saverproof.contracts.registry import contracts
    from saverproof.families.functional.judge import OTHER_JUDGES

    judge_of_family = import_module(OTHER_JUDGES[plan.family])
    if steps and hasattr(judge_of_family, "blame"):
        blamed: dict[str, Any] = judge_of_family.blame(plan, steps)
        return blamed
    first = contracts(plan.family)[0].id
    return {"contract": first, "steps": [], "program": steps, "reproducer": ""}


def is_spent(data: dict[str, Any], progress: Progress) -> bool:
    """Whether a call was given up that may come back, and would be heard in the next item."""
    from saverproof.families.atomicity.worker import any_left

    return any_left()


def clean(data: dict[str, Any], progress: Progress) -> None:
    """Drop the workspaces named in ``data["names"]``, which a killed process left behind."""
    plan = Plan.from_json(data["plan"])
    target = load(TargetRef.from_json(plan.target))
    for name in data["names"]:
        drop(target, Workspace(Path(plan.folder) / name, name))
