"""All steps of the kit as rules of a state machine."""

from __future__ import annotations

from saverproof.families.machines.rules import step_rule
from saverproof.judging.scenes import (
    AbandonList,
    Bulk,
    CallOnLoop,
    CheckFiles,
    CloseAgain,
    Elsewhere,
    FirstOperation,
    LeaveUnread,
    RefuseValue,
    TakeTurns,
)
from saverproof.judging.scenes.clones import clone_or_drop
from saverproof.programs.makers import (
    batches,
    checkpoints,
    reads,
    saver_lifecycle,
    whole_threads,
)


class KitRules:
    """The kit's rules by name. The themes of a machine set how often each is used."""

    put = step_rule(checkpoints.put)
    put_again = step_rule(checkpoints.put_again)
    put_replacing = step_rule(checkpoints.put_replacing)
    put_copy = step_rule(checkpoints.put_copy)
    put_omitting = step_rule(checkpoints.put_omitting)
    put_in_loop = step_rule(checkpoints.put_in_loop)
    put_root_in_form = step_rule(checkpoints.put_root_in_form)
    put_and_change = step_rule(checkpoints.put_and_change)
    put_merging = step_rule(checkpoints.put_merging)
    put_older = step_rule(checkpoints.put_older)
    put_with_legacy_writes = step_rule(checkpoints.put_with_legacy_writes)
    put_delta = step_rule(checkpoints.put_delta)
    put_elsewhere = step_rule(Elsewhere.make)
    writes = step_rule(batches.writes)
    writes_early = step_rule(batches.writes_early)
    writes_again = step_rule(batches.writes_again)
    writes_special = step_rule(batches.writes_special)
    writes_empty = step_rule(batches.writes_empty)
    writes_to_root = step_rule(batches.writes_to_root)
    writes_in_loop = step_rule(batches.writes_in_loop)
    writes_and_change = step_rule(batches.writes_and_change)
    refuse = step_rule(RefuseValue.make)
    get = step_rule(reads.get)
    get_in_form = step_rule(reads.get_in_form)
    list_tuples = step_rule(reads.list_)
    list_filtered = step_rule(reads.list_filtered)
    list_in_form = step_rule(reads.list_in_form)
    list_all = step_rule(reads.list_all)
    walk_pages = step_rule(reads.pages)
    abandon_list = step_rule(AbandonList.make)
    delta_history = step_rule(reads.delta_history)
    delete_thread = step_rule(whole_threads.delete_thread)
    delete_for_runs = step_rule(whole_threads.delete_runs)
    copy_thread = step_rule(whole_threads.copy_thread)
    prune = step_rule(whole_threads.prune)
    prune_to_latest = step_rule(whole_threads.prune_to_latest)
    reopen = step_rule(saver_lifecycle.reopen)
    set_up = step_rule(saver_lifecycle.set_up)
    close_again = step_rule(CloseAgain.make)
    clone = step_rule(clone_or_drop)
    take_turns = step_rule(TakeTurns.make)
    leave_unread = step_rule(LeaveUnread.make)
    next_versions = step_rule(saver_lifecycle.next_versions)
    check_files = step_rule(CheckFiles.make_private)
    check_encryption = step_rule(CheckFiles.make_encrypted)
    call_on_loop = step_rule(CallOnLoop.make)
    first_operation = step_rule(FirstOperation.make)
    bulk = step_rule(Bulk.make)
