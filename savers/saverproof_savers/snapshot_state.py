"""The state of LangGraph's saver in memory, as one row of plain msgpack."""

from collections import defaultdict
from dataclasses import dataclass
from sqlite3 import Cursor
from typing import Any

import ormsgpack

from saverproof_savers.errors import SchemaError

ENCODING = "msgpack/1"
"""How the columns storage, writes and blobs are written: msgpack, lists of flat rows."""

_COLUMNS = {"id", "encoding", "storage", "writes", "blobs", "revision", "updated_at"}


@dataclass(frozen=True, slots=True)
class State:
    """The three dictionaries of InMemorySaver; the values in them are serialized already."""

    storage: defaultdict[str, Any]
    writes: defaultdict[tuple[str, str, str], Any]
    blobs: dict[tuple[str, str, str, Any], tuple[str, bytes]]


def is_ready(cursor: Cursor) -> bool:
    """Whether the table is there. Raises SchemaError if its state has another encoding."""
    cursor.execute("SELECT name FROM pragma_table_info('checkpoint_state')")
    found = {name for (name,) in cursor.fetchall()}
    if not found:
        return False
    if not found >= _COLUMNS:
        raise SchemaError(
            f"table checkpoint_state lacks the columns {sorted(_COLUMNS - found)}; it was written "
            "by another saver, in another encoding (pickle is never read)"
        )
    _check_encoding(cursor)
    return True


def create_table(cursor: Cursor) -> None:
    """Make the table and its one row, unless they are there."""
    if is_ready(cursor):
        return
    cursor.execute(
        """CREATE TABLE checkpoint_state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            encoding TEXT NOT NULL,
            storage BLOB NOT NULL,
            writes BLOB NOT NULL,
            blobs BLOB NOT NULL,
            revision INTEGER NOT NULL,
            updated_at TEXT NOT NULL
        )"""
    )
    save(cursor, State(defaultdict(dict), defaultdict(dict), {}))


def _check_encoding(cursor: Cursor) -> None:
    cursor.execute("SELECT encoding FROM checkpoint_state WHERE id = 1")
    row = cursor.fetchone()
    if row is None or row[0] != ENCODING:
        found = "no row" if row is None else f"encoding {row[0]!r}"
        raise SchemaError(f"table checkpoint_state: found {found}, expected encoding {ENCODING!r}")


def stored_revision(cursor: Cursor) -> int:
    """How often the state has been written."""
    row = cursor.execute("SELECT revision FROM checkpoint_state WHERE id = 1").fetchone()
    return int(row[0])


def save(cursor: Cursor, state: State) -> int:
    """Put the state in the place of the stored one; returns its revision."""
    cursor.execute(
        """INSERT INTO checkpoint_state
            VALUES (1, ?, ?, ?, ?, 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
            ON CONFLICT (id) DO UPDATE SET encoding = excluded.encoding,
            storage = excluded.storage, writes = excluded.writes, blobs = excluded.blobs,
            revision = revision + 1, updated_at = excluded.updated_at""",
        (ENCODING, *(ormsgpack.packb(rows) for rows in _rows(state))),
    )
    return stored_revision(cursor)


def _rows(state: State) -> tuple[list[Any], list[Any], list[Any]]:
    """Flat rows. What reading leaves behind, an empty dictionary for an unknown thread, goes."""
    storage = [
        [thread_id, checkpoint_ns, checkpoint_id, *stored]
        for thread_id, namespaces in state.storage.items()
        for checkpoint_ns, checkpoints in namespaces.items()
        for checkpoint_id, stored in checkpoints.items()
    ]
    writes = [
        [*key, *inner_key, *write]
        for key, batch in state.writes.items()
        for inner_key, write in batch.items()
    ]
    blobs = [[*key, *value] for key, value in state.blobs.items()]
    return storage, writes, blobs


def load(cursor: Cursor) -> tuple[int, State]:
    """The stored revision and state. Raises TypeError or ValueError if it cannot be decoded."""
    _check_encoding(cursor)
    cursor.execute("SELECT revision, storage, writes, blobs FROM checkpoint_state WHERE id = 1")
    revision, *columns = cursor.fetchone()
    storage: defaultdict[str, Any] = defaultdict(lambda: defaultdict(dict))
    writes: defaultdict[tuple[str, str, str], Any] = defaultdict(dict)
    stored_checkpoints, stored_writes, stored_blobs = map(ormsgpack.unpackb, columns)
    for thread_id, checkpoint_ns, checkpoint_id, stored, metadata, parent in stored_checkpoints:
        storage[thread_id][checkpoint_ns][checkpoint_id] = (tuple(stored), tuple(metadata), parent)
    for *key, task_id, index, same_task_id, channel, value, task_path in stored_writes:
        entry = (same_task_id, channel, tuple(value), task_path)
        writes[tuple(key)][task_id, index] = entry
    blobs = {tuple(key): (kind, value) for *key, kind, value in stored_blobs}
    return int(revision), State(storage, writes, blobs)
