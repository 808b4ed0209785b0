"""How often the makers of everyday steps are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from saverproof.programs.makers import (
    batches,
    checkpoints,
    reads,
    saver_lifecycle,
    scenes,
    whole_threads,
)
from saverproof.programs.theme import Maker, Theme

Weights: TypeAlias = Mapping[Maker, int]

PUTS: Weights = {checkpoints.put: 12, checkpoints.put_again: 1, checkpoints.put_replacing: 1}
WRITES: Weights = {batches.writes: 8, batches.writes_again: 5, batches.writes_early: 2}
READS: Weights = {reads.get: 6, reads.list_: 4}
GENERAL: Weights = {**PUTS, **WRITES, **READS}
SMALL = Theme("small", threads=("a",), namespaces=("",), length=40)

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
        checkpoints.elsewhere: 1,
        batches.writes_special: 2,
        batches.writes_empty: 1,
        batches.writes_to_root: 1,
        batches.writes_in_loop: 1,
        batches.writes_and_change: 1,
        batches.refuse: 1,
        reads.get_in_form: 2,
        reads.list_filtered: 2,
        reads.list_in_form: 1,
        reads.list_all: 1,
        reads.pages: 2,
        reads.abandon: 1,
        reads.delta_history: 2,
        whole_threads.delete_thread: 2,
        whole_threads.delete_runs: 1,
        whole_threads.copy_thread: 2,
        whole_threads.prune: 1,
        saver_lifecycle.reopen: 1,
        saver_lifecycle.set_up: 1,
        saver_lifecycle.close_again: 1,
        saver_lifecycle.clone: 1,
        scenes.next_versions: 1,
        scenes.first_operation: 1,
    },
    groups=("plain", "falsy", "scalar", "container"),
    runs=("run-1", "run-2"),
    whole_store=True,
    watch_inputs=True,
)
"""Whatever a saver may be asked, but for what takes seconds, needs both APIs, or a new store."""
