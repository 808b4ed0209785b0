"""The contracts that ask the same as each test of LangGraph's own suite.

`python -m saverproof.run.peer.page > docs/peer.md` writes the page that is made of them.
"""

from collections.abc import Mapping

CROSSWALK: Mapping[str, tuple[str, ...]] = {
    "test_put_returns_config": ("identity/put-returns-address",),
    "test_put_roundtrip": (
        "interface/complete",
        "serialization/channel-values",
    ),
    "test_put_preserves_channel_values": ("serialization/channel-values",),
    "test_put_preserves_channel_versions": ("serialization/checkpoint-fields",),
    "test_put_preserves_versions_seen": ("serialization/checkpoint-fields",),
    "test_put_preserves_versions_seen_values": ("serialization/checkpoint-fields",),
    "test_put_preserves_metadata": ("serialization/metadata",),
    "test_put_preserves_run_id": (
        "serialization/metadata",
        "deletion/runs",
    ),
    "test_put_root_namespace": ("isolation/namespaces",),
    "test_put_child_namespace": (
        "isolation/namespaces",
        "isolation/nested-namespaces",
    ),
    "test_put_default_namespace": ("identity/get-defaults-to-root",),
    "test_put_multiple_checkpoints_same_thread": (
        "identity/snapshots",
        "ordering/list-newest-first",
    ),
    "test_put_multiple_threads_isolated": ("isolation/threads",),
    "test_put_parent_config": ("identity/parent",),
    "test_put_incremental_channel_update": (
        "channels/unchanged-carried",
        "channels/history-immutable",
    ),
    "test_put_new_channel_added": ("channels/unchanged-carried",),
    "test_put_channel_removed": ("channels/dropped-stays-dropped",),
    "test_get_tuple_nonexistent_returns_none": ("identity/unknown-is-none",),
    "test_get_tuple_latest_when_no_checkpoint_id": ("ordering/latest-is-greatest-id",),
    "test_get_tuple_specific_checkpoint_id": ("identity/snapshots",),
    "test_get_tuple_config_structure": ("identity/tuple-addresses-itself",),
    "test_get_tuple_checkpoint_fields": ("serialization/checkpoint-fields",),
    "test_get_tuple_metadata": ("serialization/metadata",),
    "test_get_tuple_parent_config": ("identity/parent",),
    "test_get_tuple_pending_writes": ("pending-writes/complete",),
    "test_get_tuple_respects_namespace": ("isolation/namespaces",),
    "test_get_tuple_nonexistent_checkpoint_id": ("identity/unknown-is-none",),
    "test_put_writes_basic": (
        "pending-writes/complete",
        "serialization/write-values",
    ),
    "test_put_writes_multiple_writes_same_task": (
        "pending-writes/complete",
        "ordering/writes-sorted",
    ),
    "test_put_writes_multiple_tasks": (
        "pending-writes/complete",
        "pending-writes/scoped",
    ),
    "test_put_writes_preserves_task_id": ("pending-writes/scoped",),
    "test_put_writes_preserves_channel_and_value": ("serialization/write-values",),
    "test_put_writes_task_path": ("pending-writes/accepts-task-path",),
    "test_put_writes_idempotent": ("upsert/regular-write-first-wins",),
    "test_put_writes_special_channels": (
        "pending-writes/special-index",
        "upsert/special-write-last-wins",
    ),
    "test_put_writes_across_namespaces": (
        "pending-writes/scoped",
        "isolation/namespaces",
    ),
    "test_put_writes_cleared_on_next_checkpoint": ("pending-writes/scoped",),
    "test_list_all": ("identity/list-selects",),
    "test_list_by_thread": (
        "identity/list-selects",
        "isolation/threads",
    ),
    "test_list_by_namespace": (
        "identity/list-selects",
        "isolation/namespaces",
    ),
    "test_list_ordering": ("ordering/list-newest-first",),
    "test_list_metadata_filter_single_key": ("filter/equality",),
    "test_list_metadata_filter_step": ("filter/equality",),
    "test_list_before": ("ordering/before-is-exclusive",),
    "test_list_limit": ("ordering/limit-is-a-prefix",),
    "test_list_limit_plus_before": ("ordering/pages-tile",),
    "test_list_combined_thread_and_filter": (
        "filter/equality",
        "identity/list-selects",
    ),
    "test_list_empty_result": ("identity/list-selects",),
    "test_list_includes_pending_writes": ("pending-writes/same-in-list",),
    "test_list_multiple_namespaces": ("identity/list-without-namespace",),
    "test_list_metadata_filter_multiple_keys": ("filter/equality",),
    "test_list_metadata_filter_no_match": ("filter/equality",),
    "test_list_metadata_custom_keys": (
        "filter/equality",
        "serialization/metadata",
    ),
    "test_delete_thread_removes_checkpoints": ("deletion/thread-all",),
    "test_delete_thread_removes_writes": (
        "deletion/no-ghosts",
        "deletion/thread-all",
    ),
    "test_delete_thread_removes_all_namespaces": ("deletion/thread-all",),
    "test_delete_thread_preserves_other_threads": (
        "deletion/thread-all",
        "isolation/threads",
    ),
    "test_delete_thread_nonexistent_noop": ("deletion/thread-all",),
    "test_delete_for_runs_single": ("deletion/runs",),
    "test_delete_for_runs_multiple": ("deletion/runs",),
    "test_delete_for_runs_preserves_other_runs": ("deletion/runs",),
    "test_delete_for_runs_removes_writes": (
        "deletion/runs",
        "deletion/no-ghosts",
    ),
    "test_delete_for_runs_empty_list_noop": ("deletion/runs",),
    "test_delete_for_runs_nonexistent_noop": ("deletion/runs",),
    "test_delete_for_runs_across_namespaces": ("deletion/runs",),
    "test_copy_thread_basic": ("deletion/copy-complete",),
    "test_copy_thread_all_checkpoints": ("deletion/copy-complete",),
    "test_copy_thread_preserves_metadata": ("deletion/copy-complete",),
    "test_copy_thread_preserves_namespaces": ("deletion/copy-complete",),
    "test_copy_thread_preserves_writes": ("deletion/copy-complete",),
    "test_copy_thread_preserves_ordering": (
        "deletion/copy-complete",
        "ordering/list-newest-first",
    ),
    "test_copy_thread_source_unchanged": (
        "deletion/copy-independent",
        "deletion/copy-complete",
    ),
    "test_copy_thread_nonexistent_source": ("deletion/copy-complete",),
    "test_prune_keep_latest_single_thread": (
        "deletion/prune-drops-older",
        "deletion/prune-latest",
    ),
    "test_prune_keep_latest_multiple_threads": (
        "deletion/prune-drops-older",
        "deletion/prune-latest",
    ),
    "test_prune_keep_latest_across_namespaces": ("deletion/prune-latest",),
    "test_prune_keep_latest_preserves_writes": ("deletion/prune-latest",),
    "test_prune_delete_all": ("deletion/thread-all",),
    "test_prune_preserves_other_threads": ("deletion/prune-latest",),
    "test_prune_empty_list_noop": ("deletion/prune-latest",),
    "test_prune_nonexistent_noop": ("deletion/prune-latest",),
}
"""Name of a test -> ids of contracts, in the order of the suite."""

UNRELEASED: Mapping[str, tuple[str, ...]] = {
    "test_history_returns_writes_oldest_first": ("delta-history/matches-walk",),
    "test_history_seed_is_nearest_snapshot": ("delta-history/matches-walk",),
    "test_history_excludes_target_pending_writes": ("delta-history/matches-walk",),
    "test_history_multi_channel": ("delta-history/matches-walk",),
    "test_history_empty_channels_returns_empty": ("delta-history/matches-walk",),
    "test_history_walk_to_root_no_seed": ("delta-history/matches-walk",),
    "test_history_migration_plain_value_as_seed": ("delta-history/matches-walk",),
    "test_history_seed_ancestor_own_writes_are_replayed": ("delta-history/matches-walk",),
}
"""Name of a test of the suite's main branch that is in no release (August 2026) -> ids of
contracts.
"""

FAILED_BY: Mapping[str, str] = {
    "test_history_returns_writes_oldest_first": "history-newest-first",
    "test_history_seed_is_nearest_snapshot": "history-seeds-at-the-root",
    "test_history_excludes_target_pending_writes": "history-with-the-targets-writes",
    "test_history_multi_channel": "history-ends-at-the-first-seed",
    "test_history_empty_channels_returns_empty": "no-channels-refused",
    "test_history_walk_to_root_no_seed": "history-seeds-of-none",
    "test_history_migration_plain_value_as_seed": "snapshots-alone-are-seeds",
    "test_history_seed_ancestor_own_writes_are_replayed": "history-without-the-seeds-writes",
}
"""Name of an unreleased test -> the known mistake that fails it, and breaks its contracts."""


def contracts_of(test: str) -> tuple[str, ...]:
    """Return the ids of the contracts that ask what a test of the suite asks, if any do."""
    return CROSSWALK.get(test, ()) or UNRELEASED.get(test, ())
