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
    from saverproof.judging.item import judge as judge_item

    plan = Plan.from_json(data["plan"])
    target = load(TargetRef.from_json(plan.target))
    return asdict(judge_item(plan, target, progress))


def blame(data: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Which contract a saver violated that died or hung at the last of ``data["steps"]``.

    The answer has the fields of a finding that follow from the program alone.
    """
    from saverproof.judging.item import blame_of_death
    from saverproof.programs.codec import step_from_json
    from saverproof.programs.describing import describe

    plan = Plan.from_json(data["plan"])
    steps = data["steps"]
    return {
        "contract": blame_of_death(plan, steps),
        "steps": [describe(step_from_json(step)) for step in steps],
        "program": steps,
        "reproducer": "",
    }


def clean(data: dict[str, Any], progress: Progress) -> None:
    """Drop the workspaces named in ``data["names"]``, which a killed process left behind."""
    plan = Plan.from_json(data["plan"])
    target = load(TargetRef.from_json(plan.target))
    for name in data["names"]:
        drop(target, Workspace(Path(plan.folder) / name, name))
