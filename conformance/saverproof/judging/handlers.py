"""How each step is taken: which function judges it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saverproof.judging.context import Context
from saverproof.judging.deletions import (
    take_copy_thread,
    take_delete_for_runs,
    take_delete_thread,
    take_prune,
)
from saverproof.judging.delta import take_delta_history
from saverproof.judging.files import take_check_files
from saverproof.judging.lifecycles import (
    take_abandon_list,
    take_clone,
    take_close_again,
    take_close_clone,
    take_drop_clone,
    take_reopen,
    take_set_up,
)
from saverproof.judging.listings import take_list_tuples, take_walk_pages
from saverproof.judging.parity import take_call_on_loop
from saverproof.judging.puts import take_put, take_put_writes
from saverproof.judging.reads import take_get_tuple, take_next_versions
from saverproof.judging.scenes import (
    take_bulk,
    take_elsewhere,
    take_first_operation,
    take_refuse_value,
)
from saverproof.steps.definitions import (
    AbandonList,
    Bulk,
    CallOnLoop,
    CheckFiles,
    Clone,
    CloseAgain,
    CloseClone,
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    DeltaHistory,
    DropClone,
    Elsewhere,
    FirstOperation,
    GetTuple,
    ListTuples,
    NextVersions,
    Prune,
    Put,
    PutWrites,
    RefuseValue,
    Reopen,
    SetUp,
    Step,
    WalkPages,
)

HANDLERS: Mapping[type[Step], Callable[[Any, Context], None]] = {
    DeleteThread: take_delete_thread,
    DeleteForRuns: take_delete_for_runs,
    CopyThread: take_copy_thread,
    Prune: take_prune,
    DeltaHistory: take_delta_history,
    CheckFiles: take_check_files,
    Reopen: take_reopen,
    SetUp: take_set_up,
    CloseAgain: take_close_again,
    AbandonList: take_abandon_list,
    Clone: take_clone,
    DropClone: take_drop_clone,
    CloseClone: take_close_clone,
    ListTuples: take_list_tuples,
    WalkPages: take_walk_pages,
    CallOnLoop: take_call_on_loop,
    Put: take_put,
    PutWrites: take_put_writes,
    GetTuple: take_get_tuple,
    NextVersions: take_next_versions,
    Elsewhere: take_elsewhere,
    RefuseValue: take_refuse_value,
    Bulk: take_bulk,
    FirstOperation: take_first_operation,
}
"""By step: a function that does it on the saver and in the model, and notes what came of it."""
