"""Deleting, pruning and copying threads. Each function runs inside one transaction."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from saverproof_savers.codec import (
    Channels,
    decode_channels,
    encode_channels,
    readable_channels,
    value_ids,
)
from saverproof_savers.errors import UndecodableError
from saverproof_savers.queries import Queries

STRATEGIES = ("keep_latest", "delete")
_TRIGGERS = ("__", "branch:", "start:")


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


@dataclass(frozen=True, slots=True)
class _Stored:
    """What pruning needs to know of a checkpoint."""

    parent_id: str | None
    channels: Channels
    delta_channels: frozenset[str]
    """Channels of which LangGraph says in the metadata that they are kept as deltas."""
    root_id: str | None
    """The checkpoint of the root namespace from which the call in this namespace started."""


_Namespace = dict[str, _Stored]


def prune(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> None:
    """Keep the newest checkpoint of each namespace, and what its delta channels are rebuilt from.

    Namespaces of a task (`node:task`) go if their call started from a root checkpoint that goes:
    nothing can come back to them. A namespace that is a bare node name is the memory of a
    subgraph, and stays.
    """
    namespaces = _namespaces(cursor, queries, thread_id)
    gone: list[tuple[str, str]] = []
    gone_roots: set[str] = set()
    # The root namespace comes first.
    for checkpoint_ns in sorted(namespaces):
        stored = namespaces[checkpoint_ns]
        newest = max(stored)
        if ":" in checkpoint_ns and stored[newest].root_id in gone_roots:
            kept: set[str] = set()
        else:
            kept = _needed(stored, newest)
        dropped = stored.keys() - kept
        gone.extend((checkpoint_ns, checkpoint_id) for checkpoint_id in dropped)
        if checkpoint_ns == "":
            gone_roots = set(dropped)
    if gone:
        _delete_checkpoints(cursor, queries, thread_id, gone)


def _namespaces(cursor: sqlite3.Cursor, queries: Queries, thread_id: str) -> dict[str, _Namespace]:
    names = queries.names
    names = queries.names
    cursor.execute(
        f"""SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, channels, metadata
            FROM "{names.checkpoints}" WHERE thread_id = ?""",
        (thread_id,),
    )
    namespaces: dict[str, _Namespace] = {}
    for checkpoint_ns, checkpoint_id, parent_id, channels, text in cursor.fetchall():
        metadata = _readable(json.loads, text, checkpoint_ns, checkpoint_id)
        counters = metadata.get("counters_since_delta_snapshot")
        parents = metadata.get("parents")
        namespaces.setdefault(checkpoint_ns, {})[checkpoint_id] = _Stored(
            parent_id,
            _readable(decode_channels, channels, checkpoint_ns, checkpoint_id),
            frozenset(counters if isinstance(counters, dict) else ()),
            parents.get("") if isinstance(parents, dict) else None,
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


def _needed(stored: _Namespace, newest: str) -> set[str]:
    """The newest checkpoint, and the ancestors that one of its channels may be rebuilt from.

    Nothing in a database says for certain which channels are delta channels. One that has a
    version and no value may be one, and then needs its ancestors up to the nearest value; the
    channels by which LangGraph triggers nodes lose their values in every step, and are none.
    """
    needed = {newest}
    for channel, entry in stored[newest].channels.items():
        if len(entry) > 1:
            continue
        if channel.startswith(_TRIGGERS) and channel not in stored[newest].delta_channels:
            continue
        ancestor = stored[newest].parent_id
        passed: set[str] = {newest}
        while ancestor in stored and ancestor not in passed:
            passed.add(ancestor)
            if len(stored[ancestor].channels.get(channel, ())) > 1:
                break
            ancestor = stored[ancestor].parent_id
        needed |= passed
    return needed


def copy_thread(cursor: sqlite3.Cursor, queries: Queries, source: str, target: str) -> None:
    """Copy every row of `source` to `target`. Raises ValueError if `target` holds anything."""
    names = queries.names
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
