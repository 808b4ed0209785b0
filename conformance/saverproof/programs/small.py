"""Small programs: steps as LangGraph makes them, and programs of which every step is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    Program,
    Prune,
    Put,
    PutWrites,
    SetUp,
    Step,
)
from saverproof.programs.steps.identifiers import mint
from saverproof.programs.values import Value

THREAD, OTHER, NEW = "a", "b", "c"

OPERATIONS: Mapping[type[Step], str] = {
    Put: "put",
    PutWrites: "put_writes",
    DeleteThread: "delete_thread",
    DeleteForRuns: "delete_for_runs",
    CopyThread: "copy_thread",
    Prune: "prune",
    SetUp: "setup",
}
"""The method, by its name in the sync API, that a writing step calls."""

TASK_PATH = "~__pregel_pull, agent"
_CHANNELS = ("count", "notes", "messages")
_KINDS = ("integer", "list")


def checkpoint(
    thread: str,
    number: int,
    parent: int | None = None,
    namespace: str = "",
    *,
    run: str = "run-1",
    seed: int | None = None,
    long: str = "",
    started_by: int = 1,
    also: Mapping[str, Value | None] = MappingProxyType({}),
    noted: str = "",
) -> Put:
    """Return a put with three channels and the loop's metadata; another ``seed`` gives other
    values.

    One channel holds a value that must be serialized, since some savers store scalars elsewhere.
    ``also`` are further channels, ``noted`` is a text in the metadata. In a subgraph,
    ``started_by`` is the root checkpoint whose run called it.
    """
    first = number * 10 if seed is None else seed
    changes = {
        "count": Value("integer", first),
        "notes": Value("text", long or f"note {first}"),
        "messages": Value("list", first),
        **also,
    }
    parents = {"": mint(started_by)} if namespace else {}
    metadata: dict[str, Any] = {"source": "loop", "step": number, "parents": parents, "run_id": run}
    if noted:
        metadata["note"] = noted
    return Put(thread, namespace, number, parent, changes=tuple(changes.items()), metadata=metadata)


def batch(
    thread: str,
    number: int,
    task: int,
    count: int,
    *special: tuple[str, int],
    seed: int = 0,
    namespace: str = "",
) -> PutWrites:
    """Return a task's batch: ``count`` regular writes, then the special ones."""
    regular = [
        (_CHANNELS[n % len(_CHANNELS)], Value(_KINDS[n % len(_KINDS)], 100 * task + n + seed))
        for n in range(count)
    ]
    marked = [(name, Value("integer", number)) for name, number in special]
    writes = (*regular[:1], *marked, *regular[1:])
    return PutWrites(thread, namespace, number, task, writes, TASK_PATH)


def unrelated(thread: str) -> Program:
    """Return steps on another thread: a checkpoint, and a task's writes on it."""
    return (checkpoint(thread, 1, run="run-9"), batch(thread, 1, 1, 1))


# --- of which nothing can be left out -------------------------------------------------------------


def _put(number: int, count: int = 1) -> Put:
    # Some savers keep serialized values with their checkpoint, others apart from it.
    changes = (("notes", Value("list", count)),)
    parent = number - 1 or None
    return Put(THREAD, "", number, parent, changes=changes, metadata={"run_id": "run"})


def _writes(number: int, *channels: str, task: int = 1) -> PutWrites:
    made = tuple((name, Value("integer", n)) for n, name in enumerate(channels, 1))
    return PutWrites(THREAD, "", number, task, made)


DELETE, COPY, DELETE_RUN = DeleteThread(THREAD), CopyThread(THREAD, NEW), DeleteForRuns(("run",))
PRUNE = Prune((THREAD,), "keep_latest")
_THREE = ("a", "b", "c")

ONE: Program = (_put(1),)
CHILD: Program = (*ONE, _put(2))
AGAIN: Program = (*ONE, _put(1, 2))
WRITES: Program = (*ONE, _writes(1, *_THREE))
LONG_BATCH: Program = (*ONE, _writes(1, "a", "b", "__interrupt__", *"cdefghijk"))
EARLY_WRITES: Program = (_writes(1, *_THREE), *ONE)
TWO: Program = (*WRITES, _put(2))
_PAGE = ("page", Value("medium-bytes", 2))
LONG_VALUE: Program = (*ONE, replace(_put(2), changes=(_PAGE,)))
TWO_WRITES: Program = (*TWO, _writes(2, *_THREE))
LATE_WRITES: Program = (*TWO, _writes(1, "a", task=2))
"""A store with checkpoints, then late writes: these can overtake a put that is still under way."""
TWO_DELETED: Program = (*TWO, _writes(2, "a", task=2), DELETE)
