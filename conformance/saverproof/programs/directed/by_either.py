"""Programs in which each API stores again, or removes, what the other has stored."""

from __future__ import annotations

from saverproof.programs.model.records import SPECIAL_INDEX
from saverproof.programs.small import NEW, OTHER, TASK_PATH, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    PutWrites,
    Step,
)
from saverproof.programs.values import Value

_CHILD = "child"
_REMOVALS: tuple[Step, ...] = (
    DeleteThread(THREAD),
    DeleteForRuns(("run-1",)),
    CopyThread(THREAD, NEW),
    Prune((THREAD, OTHER), "keep_latest"),
    Prune((THREAD, OTHER), "delete"),
)


def _four_times(*channels: str) -> Program:
    """Return a program with the same batch four times with other values: whichever API has stored
    it, either API stores it again.
    """
    batches = (
        tuple((channel, Value("list", seed + n)) for n, channel in enumerate(channels))
        for seed in (1, 4, 7, 10)
    )
    written = (PutWrites(THREAD, "", 1, 1, writes, TASK_PATH) for writes in batches)
    looked = (step for one in written for step in (one, GetTuple(THREAD, "", 1)))
    return (checkpoint(THREAD, 1), *looked)


def _removed(removal: Step, before: int) -> Program:
    """Return a program with as many writing steps ``before`` a removal: of eight, two in a row are
    made by one API, and then two by the other.
    """
    stored = (
        checkpoint(THREAD, 1),
        checkpoint(THREAD, 2, 1),
        checkpoint(THREAD, 3, namespace=_CHILD),
        checkpoint(THREAD, 4, 3, namespace=_CHILD),
        batch(THREAD, 2, 1, 2, ("__interrupt__", 3)),
        batch(THREAD, 4, 1, 2, namespace=_CHILD),
        checkpoint(OTHER, 5, run="run-2"),
        checkpoint(OTHER, 6, 5),
    )
    again = (checkpoint(THREAD, 2), checkpoint(THREAD, 4, namespace=_CHILD))
    return (*stored[:before], removal, ListTuples(None), *again, ListTuples(None))


BY_EITHER: tuple[Program, ...] = (
    *map(_four_times, SPECIAL_INDEX),
    _four_times("notes", "count"),
    _four_times("notes", "__resume__"),
    *(_removed(removal, before) for removal in _REMOVALS for before in (6, 8)),
)
"""Special, regular and mixed batches that each API stores after the other, and each removal by
either.
"""
