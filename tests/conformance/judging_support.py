"""Plans that judge a saver in this process, without a probe in another one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from saverproof.capability import Capability
from saverproof.families.items import ItemPlan
from saverproof.savers.facts import APIS, METHODS
from saverproof.savers.targets.distribution import versions
from saverproof.savers.targets.event_loop import EventLoop
from saverproof.savers.targets.opening import fresh_workspace, opened
from saverproof.savers.targets.probe_calls import Prober, find_operations
from saverproof.savers.targets.target import Target

BY_CALLING = frozenset(
    {
        Capability.DELETE_THREAD,
        Capability.DELETE_FOR_RUNS,
        Capability.COPY_THREAD,
        Capability.PRUNE,
        Capability.DELTA_HISTORY,
    }
)
"""Capabilities that a saver has if one of its operations answers."""
EVERY_OPERATION = {api: list(METHODS[api]) for api in APIS}


def facts_of(target: Target, folder: Path) -> dict[str, Any]:
    """What judging has to know of a target, found out as the probe does."""
    with (
        EventLoop() as loop,
        fresh_workspace(folder, target) as workspace,
        opened(target, workspace, loop) as saver,
    ):
        operations = find_operations(Prober(saver, loop, lambda _: None))
    return facts_from(operations, durable=target.durable, expires=target.expiry is not None)


@cache
def installed() -> dict[str, str]:
    """The versions of the packages that matter: finding them out takes long."""
    return versions(None)


def facts_from(
    operations: dict[str, list[str]], *, durable: bool = True, expires: bool = False
) -> dict[str, Any]:
    """What judging has to know of a saver with these operations."""
    there = {name for api in APIS for name in operations[api]}
    absent = {str(name): "not implemented" for name in sorted(BY_CALLING) if str(name) not in there}
    if not expires:
        absent[Capability.EXPIRY] = "nothing expires"
    return {
        "durable": durable,
        "capabilities": [str(name) for name in Capability if str(name) not in absent],
        "absent": absent,
        "opens_ms": 1.0,
        "packages": dict(installed()),
        "operations": operations,
    }


def plan_of(
    target: Target,
    family: str,
    api: str,
    folder: Path,
    *,
    profile: str = "quick",
    seed: int = 0,
    facts: dict[str, Any] | None = None,
) -> ItemPlan:
    """A plan to judge one family of a target through one API, below a folder."""
    return ItemPlan(
        target={},
        facts=facts_of(target, folder) if facts is None else facts,
        family=family,
        api=api,
        profile=profile,
        seed=seed,
        folder=str(folder),
    )
