"""The state of LangGraph's saver in memory, as one row of plain msgpack."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Cursor
from typing import Any

import ormsgpack
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id

from saverproof_savers.errors import SchemaError, UndecodableError
from saverproof_savers.search import ListCriteria

Place = tuple[str, str, str]
"""The address of a checkpoint: (thread_id, checkpoint_ns, checkpoint_id)."""

ENCODING = "msgpack/1"
"""The encoding of the columns storage, writes and blobs: msgpack, lists of flat rows."""

# msgpack would write these types as another: read back, the id would not be found any more.
_REFUSED = (
    ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_COLUMNS = {"id", "encoding", "storage", "writes", "blobs", "revision", "updated_at"}


@dataclass(frozen=True, slots=True)
class SaverState:
    """The three dictionaries of InMemorySaver, whose values are serialized already."""

    storage: defaultdict[str, Any]
    writes: defaultdict[tuple[str, str, str], Any]
    blobs: dict[tuple[str, str, str, Any], tuple[str, bytes]]


def is_ready(cursor: Cursor) -> bool:
    """Return whether the table is there.

    Raises:
        SchemaError: its state has another encoding.
    """
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
    save(cursor, SaverState(defaultdict(dict), defaultdict(dict), {}))


def _check_encoding(cursor: Cursor) -> None:
    cursor.execute("SELECT encoding FROM checkpoint_state WHERE id = 1")
    row = cursor.fetchone()
    if row is None or row[0] != ENCODING:
        found = "no row" if row is None else f"encoding {row[0]!r}"
        raise SchemaError(f"table checkpoint_state: found {found}, expected encoding {ENCODING!r}")


def stored_revision(cursor: Cursor) -> int | None:
    """Return how often the state has been written; None if it is gone."""
    row = cursor.execute("SELECT revision FROM checkpoint_state WHERE id = 1").fetchone()
    return None if row is None else int(row[0])


def save(cursor: Cursor, state: SaverState) -> int | None:
    """Replace the stored state, and return its revision.

    Raises:
        TypeError: an id or a version would not be read back as it is.
    """
    try:
        columns = [ormsgpack.packb(rows, option=_REFUSED) for rows in _rows(state)]
    except TypeError as error:
        raise TypeError(f"expected text and numbers as ids and versions: {error}") from error
    cursor.execute(
        """INSERT INTO checkpoint_state
            VALUES (1, ?, ?, ?, ?, 1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
            ON CONFLICT (id) DO UPDATE SET encoding = excluded.encoding,
            storage = excluded.storage, writes = excluded.writes, blobs = excluded.blobs,
            revision = revision + 1, updated_at = excluded.updated_at""",
        (ENCODING, *columns),
    )
    return stored_revision(cursor)


def _rows(state: SaverState) -> tuple[list[Any], list[Any], list[Any]]:
    """Return flat rows.

    The empty dictionaries that reading unknown threads leaves behind are dropped.
    """
    storage = [
        [thread_id, checkpoint_ns, checkpoint_id, list(stored), list(metadata), parent]
        for thread_id, namespaces in state.storage.items()
        for checkpoint_ns, checkpoints in namespaces.items()
        for checkpoint_id, (stored, metadata, parent) in checkpoints.items()
    ]
    writes = [
        [*key, *inner_key, same_task_id, channel, list(value), task_path]
        for key, batch in state.writes.items()
        for inner_key, (same_task_id, channel, value, task_path) in batch.items()
    ]
    blobs = [[*key, *value] for key, value in state.blobs.items()]
    return storage, writes, blobs


def load(cursor: Cursor) -> tuple[int, SaverState]:
    """Return the stored revision and state.

    Raises:
        TypeError, ValueError: the state cannot be decoded.
    """
    _check_encoding(cursor)
    cursor.execute("SELECT revision, storage, writes, blobs FROM checkpoint_state WHERE id = 1")
    revision, *columns = cursor.fetchone()
    storage: defaultdict[str, Any] = defaultdict(lambda: defaultdict(dict))
    writes: defaultdict[tuple[str, str, str], Any] = defaultdict(dict)
    stored_checkpoints, stored_writes, stored_blobs = map(_unpacked, columns)
    for thread_id, checkpoint_ns, checkpoint_id, stored, metadata, parent in stored_checkpoints:
        storage[thread_id][checkpoint_ns][checkpoint_id] = (tuple(stored), tuple(metadata), parent)
    for *key, task_id, index, same_task_id, channel, value, task_path in stored_writes:
        entry = (same_task_id, channel, tuple(value), task_path)
        thread_id, checkpoint_ns, checkpoint_id = key
        writes[thread_id, checkpoint_ns, checkpoint_id][task_id, index] = entry
    blobs = {
        (thread_id, checkpoint_ns, channel, version): (kind, value)
        for thread_id, checkpoint_ns, channel, version, kind, value in stored_blobs
    }
    return int(revision), SaverState(storage, writes, blobs)


def _unpacked(column: bytes) -> list[Any]:
    rows = ormsgpack.unpackb(column)
    if type(rows) is not list:
        raise ValueError(f"found {type(rows).__name__}, expected a list of rows")
    return rows


def undecodable(place: tuple[str, str, str | None], error: Exception) -> UndecodableError:
    """Return the error that names the checkpoint and the cause."""
    thread_id, checkpoint_ns, checkpoint_id = place
    return UndecodableError(
        f"checkpoint {checkpoint_id} of thread {thread_id!r}, namespace {checkpoint_ns!r}, cannot "
        f"be decoded: {type(error).__name__}: {error}"
    )


def named(state: SaverState, config: RunnableConfig) -> tuple[str, str, str | None]:
    """Return the checkpoint that the config names.

    Without an id it is the latest; its id is None if there is none.
    """
    thread_id, checkpoint_ns = _scope(config)
    found = namespace_of(state, config)
    return thread_id, checkpoint_ns, get_checkpoint_id(config) or max(found, default=None)


def namespace_of(state: SaverState, config: RunnableConfig) -> Mapping[str, Any]:
    """Return the checkpoints of the config's thread and namespace by id; none of unknown ones."""
    thread_id, checkpoint_ns = _scope(config)
    found: Mapping[str, Any] = state.storage.get(thread_id, {}).get(checkpoint_ns, {})
    return found


def _scope(config: RunnableConfig) -> tuple[str, str]:
    configurable = config["configurable"]
    return configurable["thread_id"], configurable.get("checkpoint_ns", "")


def searched(state: SaverState, config: RunnableConfig | None, search: ListCriteria) -> list[Place]:
    """Return the checkpoints, newest first, that fit the search as far as their places show."""
    # Use the id itself, and not the text in ``search``: ids are kept as they were put.
    threads = [config["configurable"]["thread_id"]] if config else list(state.storage)
    found = [
        (thread_id, checkpoint_ns, checkpoint_id)
        for thread_id in threads
        for checkpoint_ns, checkpoints in state.storage.get(thread_id, {}).items()
        if search.checkpoint_ns in (None, checkpoint_ns)
        for checkpoint_id in checkpoints
        if search.checkpoint_id in (None, checkpoint_id)
        and (search.before is None or checkpoint_id < search.before)
    ]
    return sorted(found, key=lambda place: place[2], reverse=True)


def ancestry(state: SaverState, config: RunnableConfig) -> SaverState:
    """Return the state with only one checkpoint and its ancestors, each of them once.

    A checkpoint that was put again below its own descendant makes the chain of parents a loop.
    """
    thread_id, checkpoint_ns, checkpoint_id = named(state, config)
    found = namespace_of(state, config)
    line: dict[str, Any] = {}
    while checkpoint_id is not None and checkpoint_id in found and checkpoint_id not in line:
        line[checkpoint_id] = found[checkpoint_id]
        checkpoint_id = found[checkpoint_id][2]
    if checkpoint_id in line:
        # The chain has come to an ancestor that it has passed already.
        last = next(reversed(line))
        line[last] = (*line[last][:2], None)
    storage: defaultdict[str, Any] = defaultdict(dict, {thread_id: {checkpoint_ns: line}})
    return SaverState(storage, state.writes, state.blobs)
