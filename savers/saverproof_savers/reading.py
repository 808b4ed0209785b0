"""Reading checkpoints: one snapshot for each, no lock and no transaction between two of a list."""

import json
import sqlite3
from dataclasses import dataclass, field

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.codec import (
    Address,
    Channels,
    Typed,
    decode_channels,
    decode_checkpoint,
    decode_metadata,
    make_config,
    value_ids,
)
from saverproof_savers.errors import UndecodableError
from saverproof_savers.queries import CHUNK, Queries
from saverproof_savers.search import ANYTHING, Search

Row = tuple[str, str | None, str, bytes, str, str]
"""checkpoint_id, parent_checkpoint_id, type, checkpoint, channels, metadata"""


@dataclass(slots=True)
class Snapshot:
    """The rows of one or several checkpoints, as they were at one moment."""

    thread_id: str
    checkpoint_ns: str
    rows: dict[str, Row] = field(default_factory=dict)
    writes: dict[str, list[tuple[str, str, Typed]]] = field(default_factory=dict)
    values: dict[int, Typed] = field(default_factory=dict)

    def tuple_of(
        self, checkpoint_id: str, serde: SerializerProtocol, where: str, search: Search = ANYTHING
    ) -> CheckpointTuple | None:
        """The checkpoint, decoded anew; None if it is not what was searched for.

        Raises UndecodableError, which names the row.
        """
        _, parent_id, kind, stored, channels, text = self.rows[checkpoint_id]
        scope = (self.thread_id, self.checkpoint_ns)
        try:
            metadata = decode_metadata(serde, text)
            if not search.matches(metadata):
                return None
            return CheckpointTuple(
                config=make_config(*scope, checkpoint_id),
                checkpoint=decode_checkpoint(
                    serde, (kind, stored), decode_channels(channels), self.values
                ),
                metadata=metadata,
                parent_config=make_config(*scope, parent_id) if parent_id else None,
                pending_writes=[
                    (task_id, channel, serde.loads_typed(value))
                    for task_id, channel, value in self.writes.get(checkpoint_id, ())
                ],
            )
        except Exception as error:
            raise UndecodableError(
                f"{where}: checkpoint {checkpoint_id} of thread {self.thread_id!r}, namespace "
                f"{self.checkpoint_ns!r}, cannot be decoded: {type(error).__name__}: {error}"
            ) from error


def read_one(cursor: sqlite3.Cursor, queries: Queries, address: Address) -> Snapshot:
    """The checkpoint that `address` names, or the latest; an empty snapshot if there is none."""
    snapshot = Snapshot(address.thread_id, address.checkpoint_ns)
    scope = (address.thread_id, address.checkpoint_ns)
    if address.checkpoint_id is None:
        cursor.execute(queries.latest_checkpoint, scope)
    else:
        cursor.execute(queries.checkpoint_by_id, (*scope, address.checkpoint_id))
    row = cursor.fetchone()
    if row is not None:
        snapshot.rows[row[0]] = row
        cursor.execute(queries.writes_of, (*scope, row[0]))
        _collect(cursor, queries, snapshot)
    return snapshot


def read_several(
    cursor: sqlite3.Cursor, queries: Queries, scope: tuple[str, str], ids: list[str]
) -> Snapshot:
    """Up to CHUNK checkpoints of one thread and namespace; those that are gone are left out."""
    snapshot = Snapshot(*scope)
    # One statement for any number: the places that are left over repeat the last id.
    parameters = (*scope, *ids, *(ids[-1:] * (CHUNK - len(ids))))
    cursor.execute(queries.checkpoints_by_ids, parameters)
    snapshot.rows = {row[0]: row for row in cursor.fetchall()}
    cursor.execute(queries.writes_of_several, parameters)
    _collect(cursor, queries, snapshot)
    return snapshot


def _collect(cursor: sqlite3.Cursor, queries: Queries, snapshot: Snapshot) -> None:
    for checkpoint_id, task_id, channel, kind, value in cursor.fetchall():
        entry = (task_id, channel, (kind, value))
        snapshot.writes.setdefault(checkpoint_id, []).append(entry)
    wanted = {value_id for row in snapshot.rows.values() for value_id in value_ids(_channels(row))}
    if wanted:
        cursor.execute(queries.values_by_ids, (json.dumps(sorted(wanted)),))
        snapshot.values = {value_id: (kind, value) for value_id, kind, value in cursor.fetchall()}


def _channels(row: Row) -> Channels:
    try:
        return decode_channels(row[4])
    except ValueError:
        # Told by tuple_of, which knows which row it is.
        return {}
