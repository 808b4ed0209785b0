"""What the judge process is asked to do for an item."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from saverproof.families.answer import unclear
from saverproof.families.atomicity.worker import any_left
from saverproof.families.registry import family, judged
from saverproof.items import Plan
from saverproof.targets.loading import load
from saverproof.targets.opening import drop
from saverproof.targets.reference import TargetRef
from saverproof.workspace import Workspace

Progress = Callable[[dict[str, Any]], None]


def judge(data: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Judge ``data["plan"]``; the outcome as plain data."""
    plan = Plan.from_json(data["plan"])
    return asdict(judged(plan, load(TargetRef.from_json(plan.target)), progress))


def blame(data: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Which contract a saver violated that died or hung at the last of ``data["steps"]``.

    The answer has the fields of a finding that follow from the journal alone.
    """
    plan = Plan.from_json(data["plan"])
    of = family(plan.family)
    target = load(TargetRef.from_json(plan.target))
    return asdict(of.blame_of_death(plan, target, data["steps"])) | {"phase": of.table.phase}


def replay(data: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Run ``data["program"]`` again for ``data["contract"]``; the answer as plain data."""
    plan = Plan.from_json(data["plan"])
    target = load(TargetRef.from_json(plan.target))
    try:
        answer = family(plan.family).replay(plan, target, data["contract"], data["program"])
    except ValueError as error:
        answer = unclear(f"the artefact cannot be used: {error}")
    return asdict(answer)


def is_spent(data: dict[str, Any], progress: Progress) -> bool:
    """Whether a call was given up that may come back, and would be heard in the next item."""
    return any_left()


def clean(data: dict[str, Any], progress: Progress) -> None:
    """Drop the workspaces named in ``data["names"]``, which a killed process left behind."""
    plan = Plan.from_json(data["plan"])
    target = load(TargetRef.from_json(plan.target))
    for name in data["names"]:
        drop(target, Workspace(Path(plan.folder) / name, name))
