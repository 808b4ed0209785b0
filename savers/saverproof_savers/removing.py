"""Deleting, pruning and copying threads. Each function runs inside one transaction."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from saverproof_savers.codec import (
    Channels,
    decode_channels,
    encode_channels,
    readable_channels,
    value_ids,
)
from saverproof_savers.errors import UndecodableError
from saverproof_savers.pruning import Namespace, Stored, pruned
from saverproof_savers.queries import Queries


def delete_thread(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> None:
    """Remove everything of the thread, writes included whose checkpoint never came."""
    names = queries.names
    cursor.execute(queries.drop_values_of_thread, (thread_id,))
    cursor.execute(
        f"""SELECT 1 FROM "{names.checkpoints}"
            WHERE thread_id = ? AND NOT json_valid(channels) LIMIT 1""",
        (thread_id,),
    )
    if cursor.fetchone() is not None:
        # A damaged row does not tell which values it had: look through all of them.
        cursor.execute(f'DELETE FROM "{names.values}" WHERE thread_id = ?', (thread_id,))
    for table in (names.checkpoints, names.writes):
        cursor.execute(f'DELETE FROM "{table}" WHERE thread_id = ?', (thread_id,))


def delete_for_runs(cursor: sqlite3.Cursor, queries: Queries, run_ids: Sequence[str]) -> None:
    """Remove the checkpoints of these runs, with their writes and the values nobody else reads."""
    names = queries.names
    found: dict[str, list[tuple[str, str]]] = {}
    for run_id in dict.fromkeys(run_ids):
        cursor.execute(
            f"""SELECT thread_id, checkpoint_ns, checkpoint_id FROM "{names.checkpoints}"
                WHERE run_id = ?""",
            (run_id,),
        )
        for thread_id, checkpoint_ns, checkpoint_id in cursor.fetchall():
            found.setdefault(thread_id, []).append((checkpoint_ns, checkpoint_id))
    for thread_id, keys in found.items():
        _delete_checkpoints(cursor, queries, thread_id, keys)


def _delete_checkpoints(
    cursor: sqlite3.Cursor, queries: Queries, thread_id: str, keys: Iterable[tuple[str, str]]
) -> None:
    names = queries.names
    rows = [(thread_id, *key) for key in keys]
    one = "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
    ids: set[int] = set()
    for row in rows:
        cursor.execute(f'SELECT channels FROM "{names.checkpoints}" {one}', row)
        for (text,) in cursor.fetchall():
            ids.update(value_ids(readable_channels(text)))
    for table in (names.checkpoints, names.writes):
        cursor.executemany(f'DELETE FROM "{table}" {one}', rows)
    cursor.execute(queries.drop_values_unless_used, (json.dumps(sorted(ids)), thread_id))


def prune(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> None:
    """Remove what `pruned` says of the thread."""
    gone = pruned(_namespaces(cursor, queries, thread_id))
    if gone:
        _delete_checkpoints(cursor, queries, thread_id, gone)


def _namespaces(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> dict[str, Namespace]:
    names = queries.names
    cursor.execute(
        f"""SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, channels, metadata
            FROM "{names.checkpoints}" WHERE thread_id = ?""",
        (thread_id,),
    )
    namespaces: dict[str, Namespace] = {}
    for checkpoint_ns, checkpoint_id, parent_id, channels, text in cursor.fetchall():
        metadata = _readable(json.loads, text, checkpoint_ns, checkpoint_id)
        entries = _readable(decode_channels, channels, checkpoint_ns, checkpoint_id)
        namespaces.setdefault(checkpoint_ns, {})[checkpoint_id] = Stored.of(
            parent_id, entries, metadata
        )
    return namespaces


def _readable(
    decode: Callable[[str], dict[str, Any]], text: str, checkpoint_ns: str, checkpoint_id: str
) -> dict[str, Any]:
    """What a column holds. A thread with a damaged row is left as it is: it may be mended."""
    try:
        return decode(text)
    except (TypeError, ValueError) as error:
        raise UndecodableError(
            f"checkpoint {checkpoint_id} of namespace {checkpoint_ns!r} cannot be decoded: {error}"
        ) from error


def copy_thread(cursor: sqlite3.Cursor, queries: Queries, source: str, target: str) -> None:
    """Copy every row of `source` to `target`. Raises ValueError if `target` holds anything."""
    names = queries.names
    for table in (names.checkpoints, names.writes):
        cursor.execute(f'SELECT 1 FROM "{table}" WHERE thread_id = ? LIMIT 1', (target,))
        if cursor.fetchone() is not None:
            raise ValueError(f"copy_thread: the target thread {target!r} holds data already")
    cursor.execute(
        f"""INSERT INTO "{names.writes}"
            SELECT ?, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value
            FROM "{names.writes}" WHERE thread_id = ?""",
        (target, source),
    )
    columns = "parent_checkpoint_id, type, checkpoint, metadata, created_at, run_id"
    cursor.execute(
        f"""SELECT checkpoint_ns, checkpoint_id, channels FROM "{names.checkpoints}"
            WHERE thread_id = ?""",
        (source,),
    )
    new_ids: dict[int, int] = {}
    for checkpoint_ns, checkpoint_id, text in cursor.fetchall():
        stored = _readable(decode_channels, text, checkpoint_ns, checkpoint_id)
        channels: Channels = {}
        for channel, entry in stored.items():
            channels[channel] = entry
            if len(entry) == 2:
                copy = _copy_value(cursor, queries, entry[1], target, new_ids)
                channels[channel] = [entry[0], copy]
        cursor.execute(
            f"""INSERT INTO "{names.checkpoints}"
                (thread_id, checkpoint_ns, checkpoint_id, channels, {columns})
                SELECT ?, checkpoint_ns, checkpoint_id, ?, {columns} FROM "{names.checkpoints}"
                WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?""",
            (target, encode_channels(channels), source, checkpoint_ns, checkpoint_id),
        )


def _copy_value(
    cursor: sqlite3.Cursor, queries: Queries, value_id: int, target: str, new_ids: dict[int, int]
) -> int:
    """The row of the copy, which is made unless `new_ids` knows it."""
    if value_id not in new_ids:
        values = queries.names.values
        cursor.execute(
            f"""INSERT INTO "{values}" (thread_id, checkpoint_ns, channel, version, type, value)
                SELECT ?, checkpoint_ns, channel, version, type, value
                FROM "{values}" WHERE value_id = ?""",
            (target, value_id),
        )
        new_ids[value_id] = int(cursor.lastrowid or 0)
    return new_ids[value_id]
