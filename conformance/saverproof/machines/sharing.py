"""Which programs may use a store in which others have left something."""

from __future__ import annotations

from saverproof.judging.attribution.odd_names import hostile_names
from saverproof.steps.definitions import (
    CopyThread,
    DeleteThread,
    DeltaHistory,
    GetTuple,
    ListTuples,
    NextVersions,
    Program,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    WalkPages,
)

_IN_THEIR_THREADS = (
    CopyThread,
    DeleteThread,
    DeltaHistory,
    GetTuple,
    ListTuples,
    NextVersions,
    Prune,
    Put,
    PutHistory,
    PutWrites,
    WalkPages,
)


def may_share(program: Program) -> bool:
    """Whether all steps stay within threads that they name, under any names."""
    return all(
        isinstance(step, _IN_THEIR_THREADS)
        and not (isinstance(step, ListTuples) and step.thread is None)
        and not hostile_names(step)
        for step in program
    )
