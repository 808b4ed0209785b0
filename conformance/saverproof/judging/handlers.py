"""How each step is taken: which function judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saverproof.judging import (
    deletions,
    delta,
    files,
    histories,
    lifecycles,
    listings,
    own,
    parity,
    puts,
    reads,
    scenes,
)
from saverproof.judging.context import Context
from saverproof.steps import definitions as steps

HANDLERS: Mapping[type[steps.Step], Callable[[Any, Context], None]] = {
    steps.DeleteThread: deletions.take_delete_thread,
    steps.DeleteForRuns: deletions.take_delete_for_runs,
    steps.CopyThread: deletions.take_copy_thread,
    steps.Prune: deletions.take_prune,
    steps.DeltaHistory: delta.take_delta_history,
    steps.CheckFiles: files.take_check_files,
    steps.Reopen: lifecycles.take_reopen,
    steps.SetUp: lifecycles.take_set_up,
    steps.CloseAgain: lifecycles.take_close_again,
    steps.AbandonList: lifecycles.take_abandon_list,
    steps.Clone: lifecycles.take_clone,
    steps.DropClone: lifecycles.take_drop_clone,
    steps.ListTuples: listings.take_list_tuples,
    steps.WalkPages: listings.take_walk_pages,
    steps.OwnStep: own.take_own,
    steps.CallOnLoop: parity.take_call_on_loop,
    steps.Put: puts.take_put,
    steps.PutHistory: histories.take_put_history,
    steps.PutWrites: puts.take_put_writes,
    steps.GetTuple: reads.take_get_tuple,
    steps.NextVersions: reads.take_next_versions,
    steps.Elsewhere: scenes.take_elsewhere,
    steps.RefuseValue: scenes.take_refuse_value,
    steps.Bulk: scenes.take_bulk,
    steps.FirstOperation: scenes.take_first_operation,
}
"""By step: a function that does it on the saver and in the model, and notes what came of it."""
