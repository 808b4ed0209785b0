"""Programs of what a removal or a copy may sweep away or trip over: writes whose checkpoint has not
come yet, and what an earlier removal left under a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from saverproof.programs.small import NEW, OTHER, THREAD, batch, checkpoint
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    ListTuples,
    Program,
    Prune,
    Step,
)

_EMPTY, _CHILD = "d", "child"
_REMOVALS: Mapping[str, Step] = {
    "delete_thread": DeleteThread(THREAD),
    "delete_for_runs": DeleteForRuns(("run-1",)),
    "prune to the latest": Prune((THREAD,), "keep_latest"),
    "prune of all": Prune((THREAD,), "delete"),
    "copy_thread": CopyThread(THREAD, NEW),
}
NEEDS: Mapping[str, str] = {
    **{name: name for name in ("delete_thread", "delete_for_runs", "copy_thread")},
    **dict.fromkeys(("prune to the latest", "prune of all"), "prune"),
}
"""The capability that each removal needs."""

_EARLY = ((THREAD, "", 3), (THREAD, _CHILD, 4), (OTHER, "", 2), (OTHER, _CHILD, 3), (_EMPTY, "", 1))
"""Where writes come early: in the thread that is removed, in one beside it, and in one of which
nothing else is stored.
"""


def early_beside(removal: str) -> Program:
    """Return a program in which writes wait for their checkpoints while others are removed. Each
    checkpoint is put afterwards, and shows them; those of a deleted thread are gone.
    """
    stored = (checkpoint(THREAD, 1), checkpoint(THREAD, 2, 1, run="run-2"))
    beside = checkpoint(OTHER, 1, run="run-2")
    early = (
        batch(thread, number, 1, 2, seed=10 * n, namespace=namespace)
        for n, (thread, namespace, number) in enumerate(_EARLY)
    )
    return (*stored, beside, *early, _REMOVALS[removal], *_put_at_last())


def _put_at_last() -> Iterator[Step]:
    for thread, namespace, number in _EARLY:
        yield checkpoint(thread, number, namespace=namespace, run="run-2")
        yield GetTuple(thread, namespace)


_OLD, _LATER = "old", "later"


def _filtered(thread: str) -> Iterator[Step]:
    for note in (_OLD, _LATER):
        yield ListTuples(thread, filter={"note": note})


def _noted(note: str) -> Program:
    return (checkpoint(THREAD, 1, noted=note), checkpoint(THREAD, 2, 1, run="run-2", noted=note))


def _selected_later(removal: Step, namespace: str = "") -> Program:
    """Return a program that puts removed ids again, one under other metadata and one without that
    key, and asks for either.
    """
    first = checkpoint(THREAD, 1, namespace=namespace, noted=_OLD)
    second = checkpoint(THREAD, 2, 1, namespace, noted=_OLD)
    third = checkpoint(THREAD, 3, 2, namespace, run="run-2", noted=_OLD)
    again = checkpoint(THREAD, 1, namespace=namespace, noted=_LATER)
    # Where rows of an index are replaced key by key, what has no such key any more keeps its row.
    without = checkpoint(THREAD, 2, 1, namespace)
    return (first, second, third, removal, again, without, *_filtered(THREAD))


SELECTED_LATER: tuple[Program, ...] = tuple(
    _selected_later(_REMOVALS[name], namespace)
    for name in NEEDS
    if name != "copy_thread"
    for namespace in ("", _CHILD)
)
"""Ids are put again, with other metadata than they were removed with, and selected by either."""


COPY_SELECTED: Program = (*_noted(_OLD), CopyThread(THREAD, NEW), *_filtered(NEW))
"""The checkpoints of a copy are selected by the metadata that their source was put with."""


def _named_again(*removed: Step) -> Program:
    """Return a program that copies to a name, removes that copy, and copies there again, with
    metadata that was put later.
    """
    copied = (CopyThread(THREAD, NEW), GetTuple(NEW), ListTuples(NEW))
    writes = batch(THREAD, 1, 1, 2)
    return (*_noted(_OLD), writes, *copied, *removed, *_noted(_LATER), *copied, *_filtered(NEW))


NAMED_AGAIN: tuple[Program, ...] = (
    _named_again(DeleteThread(NEW)),
    _named_again(Prune((NEW,), "delete")),
    _named_again(DeleteForRuns(("run-1", "run-2"))),
)
"""A thread is copied twice to the same name, and the first copy is removed in between."""
