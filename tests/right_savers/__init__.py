"""Right savers of unusual design: what the kit must accuse of nothing."""

from __future__ import annotations

from tests.right_savers import (
    append_only_log,
    apsw_connection,
    attached_files,
    begins_before_its_try,
    blobs_by_version,
    closes_what_clones_share,
    copy_on_write,
    counts_its_calls,
    ends_reads_plainly,
    file_per_thread,
    id_is_the_key,
    keeps_its_socket,
    keeps_the_newest,
    lazy_pages,
    lists_the_root,
    lmdb_value,
    normalised_tables,
    opener_of_its_own,
    other_versions,
    refuses_odd_ids,
    refuses_what_is_empty,
    shielded_writer,
    stores_any_object,
    temporary_file,
    writer_behind_queue,
)
from tests.right_savers.registry import REGISTERED, RightSaver

__all__ = [
    "RIGHT",
    "RightSaver",
    "append_only_log",
    "apsw_connection",
    "attached_files",
    "begins_before_its_try",
    "blobs_by_version",
    "closes_what_clones_share",
    "copy_on_write",
    "counts_its_calls",
    "ends_reads_plainly",
    "file_per_thread",
    "id_is_the_key",
    "keeps_its_socket",
    "keeps_the_newest",
    "lazy_pages",
    "lists_the_root",
    "lmdb_value",
    "normalised_tables",
    "opener_of_its_own",
    "other_versions",
    "refuses_odd_ids",
    "refuses_what_is_empty",
    "shielded_writer",
    "stores_any_object",
    "temporary_file",
    "writer_behind_queue",
]

RIGHT: tuple[RightSaver, ...] = tuple(REGISTERED)
