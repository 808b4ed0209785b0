"""Read checkpoints: the rows of one moment first, which are decoded later."""

import json
import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple, PendingWrite
from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.codec import (
    Address,
    Channels,
    Typed,
    Values,
    decode_checkpoint,
    decode_metadata,
    decode_object,
    make_config,
    value_ids,
)
from saverproof_savers.errors import UndecodableError
from saverproof_savers.queries import CHUNK, Queries
from saverproof_savers.search import ANYTHING, ListCriteria

Scope = tuple[str, str]
"""A thread and a namespace: (thread_id, checkpoint_ns)."""

Row = tuple[str, str | bytes | None, str, bytes, str, str]
"""A checkpoint's row: (checkpoint_id, parent_checkpoint_id, type, checkpoint, channels, metadata).

Damaged text comes as bytes. For the parent this is the only sign of damage.
"""

WriteRow = tuple[Any, ...]
"""A write's row: (task_path, task_id, idx, channel, type, value), and possibly checkpoint_id.

Sorted, the rows are in LangGraph's order.
"""


@dataclass(slots=True)
class CheckpointRows:
    """The rows of one checkpoint, as they were at one moment."""

    scope: Scope
    row: Row
    channels: Channels | Exception
    """The channel map, or why it cannot be read."""
    writes: list[WriteRow]
    values: Values
    """The values that this checkpoint needs; those of other checkpoints may be among them."""

    def decode(
        self, serde: SerializerProtocol, where: str, search: ListCriteria = ANYTHING
    ) -> CheckpointTuple | None:
        """Decode the checkpoint; return None if the search does not want it.

        Raises:
            UndecodableError: it cannot be decoded; the message names the row.
        """
        checkpoint_id, parent_id, kind, stored, _, text = self.row
        thread_id, checkpoint_ns = self.scope
        try:
            metadata = decode_metadata(serde, text)
            if search.filter and not search.matches(metadata):
                return None
            if isinstance(self.channels, Exception):
                raise self.channels
            if isinstance(parent_id, bytes):
                raise ValueError(f"found the parent {parent_id!r:.60}, expected text")
            return CheckpointTuple(
                make_config(thread_id, checkpoint_ns, checkpoint_id),
                decode_checkpoint(serde, (kind, stored), self.channels, self.values),
                metadata,
                make_config(thread_id, checkpoint_ns, parent_id) if parent_id else None,
                self._decode_writes(serde),
            )
        except Exception as error:
            raise undecodable((*self.scope, checkpoint_id), error, where) from error

    def _decode_writes(self, serde: SerializerProtocol) -> list[PendingWrite]:
        loads = serde.loads_typed
        # Path, task id and index come first in the rows, and no two rows share all three.
        self.writes.sort()
        decoded = []
        for row in self.writes:
            if type(row[1]) is bytes or type(row[3]) is bytes:
                raise ValueError(f"found the write {row[:4]!r:.60}, expected text")
            decoded.append((row[1], row[3], loads(row[4:6])))
        return decoded


def undecodable(row: tuple[str, str, str], error: Exception, where: str = "") -> UndecodableError:
    """Return the error that names the row of a checkpoint, and the file if ``where`` has it."""
    thread_id, checkpoint_ns, checkpoint_id = row
    return UndecodableError(
        f"{where and f'{where}: '}checkpoint {checkpoint_id} of thread {thread_id!r}, namespace "
        f"{checkpoint_ns!r}, cannot be decoded: {type(error).__name__}: {error}"
    )


def read_one(cursor: sqlite3.Cursor, queries: Queries, address: Address) -> CheckpointRows | None:
    """Return the checkpoint at ``address``, or the latest of its thread and namespace."""
    if address.checkpoint_id is None:
        rows = cursor.execute(queries.latest_and_writes, address[:2] * 4).fetchall()
    else:
        rows = cursor.execute(queries.checkpoint_and_writes, (*address, *address)).fetchall()
    if not rows or type(rows[0][2]) is int:
        # There is no row; or there are writes that wait for their checkpoint, whose third column is
        # a number.
        return None
    row = rows.pop(0)
    channels, ids = _channels(row)
    if len(ids) == 1:
        value = cursor.execute(queries.value_by_id, (ids[0], address[0])).fetchone()
        stored = {ids[0]: value} if value else {}
    else:
        stored = _values(cursor, queries, address[0], ids)
    return CheckpointRows(address[:2], row, channels, rows, Values(stored, {}))


def read_several(
    cursor: sqlite3.Cursor, queries: Queries, scope: Scope, ids: list[str]
) -> dict[str, CheckpointRows]:
    """Return up to CHUNK checkpoints of one thread and namespace by id.

    Deleted ones are missing.
    """
    # One statement serves any number: unused places repeat the last id.
    parameters = (*scope, *ids, *(ids[-1:] * (CHUNK - len(ids))))
    rows = cursor.execute(queries.checkpoints_by_ids, parameters).fetchall()
    writes = cursor.execute(queries.writes_of_several, parameters).fetchall()
    return {each.row[0]: each for each in _snapshots(cursor, queries, scope, rows, writes)}


def read_stretch(
    cursor: sqlite3.Cursor, queries: Queries, scope: Scope, before: str | None, size: int
) -> list[CheckpointRows]:
    """Return the next checkpoints of one thread and namespace, newest first, at most ``size``."""
    # SQLite sorts a blob after every text: every checkpoint is before it.
    bound = b"" if before is None else before
    rows = cursor.execute(queries.checkpoints_before, (*scope, bound, size)).fetchall()
    if not rows:
        return []
    writes = cursor.execute(queries.writes_between, (*scope, rows[-1][0], rows[0][0])).fetchall()
    return _snapshots(cursor, queries, scope, rows, writes)


def _snapshots(
    cursor: sqlite3.Cursor,
    queries: Queries,
    scope: Scope,
    rows: list[Row],
    writes: list[WriteRow],
) -> list[CheckpointRows]:
    """Return the checkpoints of these rows. Values that several of them share are read once."""
    pending: defaultdict[str, list[WriteRow]] = defaultdict(list)
    for found in writes:
        pending[found[6]].append(found)
    values = Values({}, {})
    wanted: set[int] = set()
    snapshots = []
    for row in rows:
        channels, value_rows = _channels(row)
        wanted.update(value_rows)
        snapshots.append(CheckpointRows(scope, row, channels, pending[row[0]], values))
    values.stored.update(_values(cursor, queries, scope[0], list(wanted)))
    return snapshots


def _values(
    cursor: sqlite3.Cursor, queries: Queries, thread_id: str, ids: list[int]
) -> dict[int, Typed]:
    if not ids:
        return {}
    rows = cursor.execute(queries.values_by_ids, (json.dumps(ids), thread_id)).fetchall()
    return {value_id: (kind, value) for value_id, kind, value in rows}


def _channels(row: Row) -> tuple[Channels | Exception, list[int]]:
    """Return the channel map, and the rows that hold its values."""
    try:
        channels = decode_object(row[4])
        return channels, value_ids(channels)
    except ValueError as error:
        # Decoding this checkpoint raises the error, so that the others of a list can be read.
        return error, []
