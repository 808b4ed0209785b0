"""Delete, prune and copy threads. Each function runs inside one transaction."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from saverproof_savers.codec import (
    Channels,
    decode_channels,
    decode_object,
    encode_channels,
    readable_channels,
    value_ids,
)
from saverproof_savers.pruning import Namespace, Stored, needed_of, pruned
from saverproof_savers.queries import Queries
from saverproof_savers.reading import undecodable


def delete_thread(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> None:
    """Remove everything of a thread, including writes whose checkpoint never came."""
    names = queries.names
    ids = _value_ids_of(cursor, queries, thread_id)
    if ids is None:
        # A damaged row does not show which values it had: look through all values.
        cursor.execute(f'DELETE FROM "{names.values}" WHERE thread_id = ?', (thread_id,))
    else:
        cursor.execute(queries.drop_values, (json.dumps(sorted(ids)), thread_id))
    for table in (names.checkpoints, names.writes):
        cursor.execute(f'DELETE FROM "{table}" WHERE thread_id = ?', (thread_id,))


def _value_ids_of(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> set[int] | None:
    """Return the values that the thread's checkpoints use, or None if a damaged one hides them."""
    ids: set[int] = set()
    cursor.execute(
        f'SELECT channels FROM "{queries.names.checkpoints}" WHERE thread_id = ?', (thread_id,)
    )
    for (text,) in cursor:
        channels = readable_channels(text)
        if channels is None:
            return None
        ids.update(value_ids(channels))
    return ids


def drop_orphans(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> None:
    """Remove the thread's values that no row uses, unless a damaged row hides which values it
    uses.
    """
    used = _value_ids_of(cursor, queries, thread_id)
    if used is not None:
        parameters = (thread_id, json.dumps(sorted(used)))
        cursor.execute(queries.drop_values_of_none, parameters)


def delete_for_runs(
    cursor: sqlite3.Cursor, queries: Queries, run_ids: Sequence[str]
) -> Collection[str]:
    """Remove the checkpoints of these runs, their writes, and the values that no other checkpoint
    uses. Return the ids of the threads that had such checkpoints.

    Checkpoints from which the delta channels of other checkpoints are rebuilt stay.
    """
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
        kept = _needed_by_others(cursor, queries, thread_id, keys)
        gone = [key for key in keys if key not in kept]
        _delete_checkpoints(cursor, queries, thread_id, gone)
    return found.keys()


def _needed_by_others(
    cursor: sqlite3.Cursor, queries: Queries, thread_id: str, keys: Sequence[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return those of these checkpoints that the delta channels of the thread's other checkpoints
    need.
    """
    cursor.execute(
        f"""SELECT 1 FROM "{queries.names.checkpoints}" WHERE thread_id = ?
            AND metadata LIKE '%counters_since_delta_snapshot%' LIMIT 1""",
        (thread_id,),
    )
    if cursor.fetchone() is None:
        return set()
    needed: set[tuple[str, str]] = set()
    for checkpoint_ns, stored in _namespaces(cursor, queries, thread_id).items():
        gone = [checkpoint_id for ns, checkpoint_id in keys if ns == checkpoint_ns]
        needed |= {(checkpoint_ns, each) for each in needed_of(stored, gone)}
    return needed


def _delete_checkpoints(
    cursor: sqlite3.Cursor, queries: Queries, thread_id: str, keys: Iterable[tuple[str, str]]
) -> None:
    names = queries.names
    rows = [(thread_id, *key) for key in keys]
    one = "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
    ids: set[int] = set()
    some_damaged = False
    for row in rows:
        cursor.execute(f'SELECT channels FROM "{names.checkpoints}" {one}', row)
        for (text,) in cursor.fetchall():
            channels = readable_channels(text)
            some_damaged |= channels is None
            ids.update(value_ids(channels or {}))
    for table in (names.checkpoints, names.writes):
        cursor.executemany(f'DELETE FROM "{table}" {one}', rows)
    parameters = (json.dumps(sorted(ids)), thread_id, thread_id)
    cursor.execute(queries.drop_values_unless_used, parameters)
    if some_damaged:
        drop_orphans(cursor, queries, thread_id)


def prune(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> None:
    """Remove what ``pruned`` returns for the thread."""
    gone = pruned(_namespaces(cursor, queries, thread_id))
    if gone:
        _delete_checkpoints(cursor, queries, thread_id, gone)


def _namespaces(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> dict[str, Namespace]:
    namespaces: dict[str, Namespace] = {}
    for row in _sound_rows(cursor, queries, thread_id):
        namespaces.setdefault(row.checkpoint_ns, {})[row.checkpoint_id] = Stored.of(
            row.parent_id, row.channels, row.metadata
        )
    return namespaces


class _SoundRow(NamedTuple):
    checkpoint_ns: str
    checkpoint_id: str
    parent_id: str | None
    channels: Channels
    metadata: dict[str, Any]


def _sound_rows(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> list[_SoundRow]:
    """Return the checkpoints of the thread, read without the serializer.

    A thread with a damaged row is left alone: it may be repaired.
    """
    names = queries.names
    cursor.execute(
        f"""SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, channels, metadata, type,
            typeof(checkpoint) FROM "{names.checkpoints}" WHERE thread_id = ?""",
        (thread_id,),
    )
    rows = [_sound(thread_id, *row) for row in cursor.fetchall()]
    ids = json.dumps(sorted({each for row in rows for each in value_ids(row.channels)}))
    cursor.execute(queries.existing_values, (ids, thread_id))
    existing = {value_id for (value_id,) in cursor.fetchall()}
    for row in rows:
        missing = set(value_ids(row.channels)) - existing
        if missing:
            error = KeyError(f"no value {min(missing)}")
            raise undecodable((thread_id, row.checkpoint_ns, row.checkpoint_id), error)
    return rows


def _sound(
    thread_id: str,
    checkpoint_ns: str,
    checkpoint_id: str,
    parent_id: str | None,
    channels: str,
    metadata: str,
    kind: str,
    stored: str,
) -> _SoundRow:
    try:
        if type(parent_id) not in (str, type(None)) or type(kind) is not str or stored != "blob":
            raise ValueError("a column holds something else than text, or data")
        return _SoundRow(
            checkpoint_ns,
            checkpoint_id,
            parent_id,
            decode_channels(channels),
            decode_object(metadata),
        )
    except ValueError as error:
        raise undecodable((thread_id, checkpoint_ns, checkpoint_id), error) from error


def copy_thread(cursor: sqlite3.Cursor, queries: Queries, source: str, target: str) -> None:
    """Copy every row of ``source`` to ``target``.

    Raises:
        ValueError: ``target`` is not empty.
    """
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
    new_ids: dict[int, int] = {}
    for row in _sound_rows(cursor, queries, source):
        channels: Channels = {}
        for channel, entry in row.channels.items():
            channels[channel] = entry
            if len(entry) == 2:
                copy = _copy_value(cursor, queries, entry[1], target, new_ids)
                channels[channel] = [entry[0], copy]
        cursor.execute(
            f"""INSERT INTO "{names.checkpoints}"
                (thread_id, checkpoint_ns, checkpoint_id, channels, {columns})
                SELECT ?, checkpoint_ns, checkpoint_id, ?, {columns} FROM "{names.checkpoints}"
                WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?""",
            (target, encode_channels(channels), source, row.checkpoint_ns, row.checkpoint_id),
        )


def _copy_value(
    cursor: sqlite3.Cursor, queries: Queries, value_id: int, target: str, new_ids: dict[int, int]
) -> int:
    """Return the row of a value's copy, which is made unless ``new_ids`` has it."""
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
