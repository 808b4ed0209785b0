"""Maps each kind of step to the function that takes and judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saverproof.judging import (
    author_steps,
    deletions,
    delta,
    lifecycles,
    listings,
    puts,
    reads,
    versions,
)
from saverproof.judging.context import Context
from saverproof.judging.scenes import Scene
from saverproof.programs.steps import definitions as steps

HANDLERS: Mapping[type[steps.Step], Callable[[Any, Context], None]] = {
    steps.DeleteThread: deletions.take_delete_thread,
    steps.DeleteForRuns: deletions.take_delete_for_runs,
    steps.CopyThread: deletions.take_copy_thread,
    steps.Prune: deletions.take_prune,
    steps.DeltaHistory: delta.take_delta_history,
    steps.Reopen: lifecycles.take_reopen,
    steps.SetUp: lifecycles.take_set_up,
    steps.ListTuples: listings.take_list_tuples,
    steps.WalkPages: listings.take_walk_pages,
    steps.OwnStep: author_steps.take_own,
    steps.Put: puts.take_put,
    steps.PutHistory: puts.take_put_history,
    steps.PutWrites: puts.take_put_writes,
    steps.GetTuple: reads.take_get_tuple,
    steps.NextVersions: versions.take_next_versions,
}
"""For each kind of step, a function that takes it on the saver and in the model, and notes the
facts.
"""


def take(step: steps.Step, context: Context) -> None:
    """Take a step of any kind."""
    if isinstance(step, Scene):
        step.play(context)
    else:
        HANDLERS[type(step)](step, context)
