"""Everything that a saver shows, as JSON: what one process saw can be compared in another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from saverproof.execution.calls import Config
from saverproof.execution.driver import Driver
from saverproof.values import show

Shown: TypeAlias = dict[str, str]
"""Fact -> what the saver says of it. See :func:`fact`."""


def fact(thread: str, namespace: str, checkpoint: str, kind: str, of: str = "") -> str:
    """The name of one fact about one checkpoint: its "checkpoint", "metadata", "parent", or the
    "writes" of one task.
    """
    return json.dumps([thread, namespace, checkpoint, kind, of])


def parts_of(name: str) -> tuple[str, str, str, str, str]:
    """Thread, namespace, checkpoint id, kind and task of a fact."""
    thread, namespace, checkpoint, kind, of = json.loads(name)
    return thread, namespace, checkpoint, kind, of


def look(driver: Driver, threads: Iterable[str]) -> Shown:
    """All that listings of these threads show. Raises what the saver raises."""
    shown: Shown = {}
    for thread in threads:
        config: Config = {"configurable": {"thread_id": thread}}
        for found in driver.list_tuples(config, {}):
            shown |= facts_of(found)
    return shown


def facts_of(found: Any) -> Shown:
    """What one checkpoint tuple says."""
    address = found.config["configurable"]
    at = (address["thread_id"], address.get("checkpoint_ns") or "", address["checkpoint_id"])
    parent = (found.parent_config or {}).get("configurable", {}).get("checkpoint_id")
    facts = {
        fact(*at, "checkpoint"): canonical(found.checkpoint),
        fact(*at, "metadata"): canonical(found.metadata),
        fact(*at, "parent"): canonical(parent),
    }
    tasks: dict[str, list[Any]] = {}
    for task, channel, value in found.pending_writes or ():
        tasks.setdefault(str(task), []).append([channel, value])
    return facts | {fact(*at, "writes", task): canonical(made) for task, made in tasks.items()}


def canonical(value: Any) -> str:
    """A text that equal values share, whatever the order of their keys."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {type(value).__name__: show(value, 2_000)}
