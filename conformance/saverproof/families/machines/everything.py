"""The theme of programs with every kind of step that a saver can take."""

from __future__ import annotations

from saverproof.judging.scenes.abandoned_list import AbandonList
from saverproof.judging.scenes.clones import clone_or_drop
from saverproof.judging.scenes.close_again import CloseAgain
from saverproof.judging.scenes.elsewhere import Elsewhere
from saverproof.judging.scenes.first_operation import FirstOperation
from saverproof.judging.scenes.refused_value import RefuseValue
from saverproof.judging.scenes.second_saver import TakeTurns
from saverproof.programs.makers import (
    batches,
    checkpoints,
    reads,
    saver_lifecycle,
    whole_threads,
)
from saverproof.programs.theme import Theme
from saverproof.programs.weights import GENERAL

EVERYTHING = Theme(
    "everything",
    {
        **GENERAL,
        checkpoints.put_copy: 2,
        checkpoints.put_omitting: 1,
        checkpoints.put_in_loop: 1,
        checkpoints.put_root_in_form: 1,
        checkpoints.put_and_change: 1,
        checkpoints.put_merging: 1,
        checkpoints.put_older: 1,
        checkpoints.put_with_legacy_writes: 1,
        Elsewhere.make: 1,
        batches.writes_special: 2,
        batches.writes_empty: 1,
        batches.writes_to_root: 1,
        batches.writes_in_loop: 1,
        batches.writes_and_change: 1,
        RefuseValue.make: 1,
        reads.get_in_form: 2,
        reads.list_filtered: 2,
        reads.list_in_form: 1,
        reads.list_all: 1,
        reads.pages: 2,
        AbandonList.make: 1,
        reads.delta_history: 2,
        whole_threads.delete_thread: 2,
        whole_threads.delete_runs: 1,
        whole_threads.copy_thread: 2,
        whole_threads.prune: 1,
        saver_lifecycle.reopen: 1,
        saver_lifecycle.set_up: 1,
        CloseAgain.make: 1,
        clone_or_drop: 1,
        TakeTurns.make: 1,
        saver_lifecycle.next_versions: 1,
        FirstOperation.make: 1,
    },
    groups=("plain", "falsy", "scalar", "container"),
    runs=("run-1", "run-2"),
    whole_store=True,
    watch_inputs=True,
)
"""The theme of all operations, except those that take seconds, need both APIs or need a new store.
"""
