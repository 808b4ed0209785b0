"""What the judge process is asked to do with an artefact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from typing import Any, Protocol

from saverproof.families.answer import Answer, unclear
from saverproof.items import Plan
from saverproof.targets.loading import load
from saverproof.targets.reference import TargetRef
from saverproof.targets.target import Target

OTHERS = {
    "atomicity": "saverproof.families.atomicity.replay",
    "durability": "saverproof.families.durability.replay",
    "concurrency": "saverproof.families.concurrency.replaying",
    "graph": "saverproof.families.graph.replay",
}
"""The families that programs alone do not put to the test, and the modules that replay them."""
_PROGRAMS = "saverproof.families.functional.replay"


class Replay(Protocol):
    """What each module that replays a family has under the name ``replay``."""

    def __call__(self, plan: Plan, target: Target, contract: str, data: Any) -> Answer:
        """Whether the recorded ``data`` still breaks the contract. Raises ValueError if it is of
        another kind, and OpeningError if the saver could not be opened or closed.
        """


def replay(data: dict[str, Any], progress: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run ``data["program"]`` again for ``data["contract"]``; the answer as plain data."""
    plan = Plan.from_json(data["plan"])
    module = import_module(OTHERS.get(plan.family, _PROGRAMS))
    again: Replay = module.replay
    target = load(TargetRef.from_json(plan.target))
    try:
        answer = again(plan, target, data["contract"], data["program"])
    except ValueError as error:
        answer = unclear(f"the artefact cannot be used: {error}")
    return asdict(answer)
