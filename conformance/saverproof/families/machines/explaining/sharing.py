"""Finds programs that may run on a store in which other programs have left data."""

from __future__ import annotations

from saverproof.judging.attribution.odd_names import hostile_names
from saverproof.programs.steps import definitions

_IN_THEIR_THREADS = (
    definitions.CopyThread,
    definitions.DeleteThread,
    definitions.DeltaHistory,
    definitions.GetTuple,
    definitions.ListTuples,
    definitions.NextVersions,
    definitions.Prune,
    definitions.Put,
    definitions.PutHistory,
    definitions.PutWrites,
    definitions.WalkPages,
)


def may_share(program: definitions.Program) -> bool:
    """Return whether all steps use only threads that they name. Renaming the threads then keeps
    programs apart.
    """
    return all(
        isinstance(step, _IN_THEIR_THREADS)
        and not (isinstance(step, definitions.ListTuples) and step.thread is None)
        and not hostile_names(step)
        for step in program
    )
