"""Converts what graphs return to plain data that is equal in all runs of a program.

What may differ between runs is left out or sorted: ids, timestamps, versions, and the order of
nodes that run side by side.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.types import Interrupt, Send, StateSnapshot

NULL_TASK = "00000000-0000-0000-0000-000000000000"
_CONTROL = frozenset({"__error__", "__error_source_node__", "__interrupt__", "__resume__"})
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b")


def plain(value: Any) -> Any:
    """Convert any value that a graph returned."""
    if isinstance(value, str):
        return without_ids(value)
    if isinstance(value, StateSnapshot):
        return plain_snapshot(value)
    if isinstance(value, Interrupt):
        return {"interrupt": plain(value.value)}
    if isinstance(value, Send):
        return {"send to": value.node, "arg": plain(value.arg)}
    if isinstance(value, BaseException):
        return without_ids(repr(value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        items = [plain(item) for item in value]
        # Which of several nodes asks first is up to the scheduler.
        if any(isinstance(item, Interrupt) for item in value):
            items.sort(key=repr)
        return items if isinstance(value, list) else tuple(items)
    return value


def without_ids(text: str) -> str:
    """Return the text with the ids of tasks, checkpoints and interrupts masked."""
    return _ID.sub("<id>", text)


def plain_snapshot(snapshot: StateSnapshot) -> dict[str, Any]:
    """Convert the state of a graph at one checkpoint."""
    metadata: Mapping[str, Any] = snapshot.metadata or {}
    return {
        "values": plain(snapshot.values),
        "next": sorted(snapshot.next),
        "source": metadata.get("source"),
        "step": metadata.get("step"),
        "tasks": sorted((_task(task) for task in snapshot.tasks), key=repr),
    }


def _task(task: Any) -> dict[str, Any]:
    return {
        "name": task.name,
        "error": None if task.error is None else plain(_error(task.error)),
        "interrupts": plain(task.interrupts),
        "result": plain(task.result),
        "subgraph": plain_snapshot(task.state) if isinstance(task.state, StateSnapshot) else None,
    }


def _error(error: Any) -> str:
    # A serializer keeps the repr of an exception.
    return repr(error) if isinstance(error, BaseException) else str(error)


def plain_history(history: Iterable[StateSnapshot]) -> list[dict[str, Any]]:
    """Convert a history in its own order. Each entry has the number of its parent; the oldest is
    0.
    """
    snapshots = list(history)
    ids = [_checkpoint_id(snapshot.config) for snapshot in reversed(snapshots)]
    numbers: dict[Any, Any] = {id: number for number, id in enumerate(ids)}
    numbers[None] = None
    return [
        {
            **plain_snapshot(snapshot),
            "parent": numbers.get(_checkpoint_id(snapshot.parent_config), "not in the history"),
        }
        for snapshot in snapshots
    ]


def _checkpoint_id(config: Any) -> Any:
    return None if config is None else config["configurable"].get("checkpoint_id")


def plain_writes(tuples: Iterable[Any]) -> dict[str, list[Any]]:
    """Return namespace -> for each checkpoint, newest first, its source, step and writes by task.

    Namespaces that differ only by ids are put in the order of their contents.
    """
    namespaces: dict[str, list[Any]] = defaultdict(list)
    for found in tuples:
        namespace = found.config["configurable"].get("checkpoint_ns", "")
        metadata = found.metadata or {}
        namespaces[namespace].append(
            {
                "source": metadata.get("source"),
                "step": metadata.get("step"),
                "writes": _by_task(found.pending_writes or ()),
            }
        )
    merged: dict[str, list[Any]] = defaultdict(list)
    for namespace, checkpoints in namespaces.items():
        merged[without_ids(namespace)].append(checkpoints)
    return {name: sorted(found, key=repr) for name, found in merged.items()}


def _by_task(writes: Iterable[Any]) -> list[Any]:
    tasks: dict[str, list[Any]] = defaultdict(list)
    for task, channel, value in writes:
        value = _error(value) if channel == "__error__" else value
        tasks[str(task)].append([channel, plain(value)])
    return sorted(
        ([task == NULL_TASK, *sorted(_kept(found), key=repr)] for task, found in tasks.items()),
        key=repr,
    )


def _kept(writes: list[Any]) -> list[Any]:
    """Return a task's output if there is any, without the questions and answers that led to it.

    With an output they have no more meaning. Another contract says whether a batch with output
    replaces them (upsert/special-write-last-wins-mixed).
    """
    return [write for write in writes if write[0] not in _CONTROL] or writes
