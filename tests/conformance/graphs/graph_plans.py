"""Plans for judging graphs in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from saverproof import Workspace, target
from saverproof.capability import Capability
from saverproof.families import registry
from saverproof.families.items import ItemPlan, Outcome
from saverproof.savers.targets.target import Target


def plan(folder: Path, api: str, *, without: tuple[Capability, ...] = (), **more: Any) -> ItemPlan:
    """A plan for the quick profile, for a saver with all capabilities but those."""
    facts = {
        "capabilities": [str(one) for one in Capability if one not in without],
        "absent": {str(one): "declined" for one in without},
        "durable": False,
        "opens_ms": 1.0,
        "operations": {},
        "packages": {"langgraph-checkpoint": version("langgraph-checkpoint")},
    }
    return ItemPlan(
        {}, facts, "graph", api, **{"profile": "quick", "seed": 0, **more}, folder=str(folder)
    )


def judged(subject: Target, folder: Path, api: str, **more: Any) -> Outcome:
    """The outcome of judging a target by graphs."""
    return registry.judged(plan(folder, api, **more), subject)


def memory_target(make: Callable[[], Any], **more: Any) -> Target:
    """A target that opens a saver which is made anew each time."""

    @target(name="saver", durable=False, **more)
    @contextmanager
    def opened(workspace: Workspace) -> Iterator[Any]:
        yield make()

    return opened
