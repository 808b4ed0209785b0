"""A saver that stores each value once, by its digest, and counts who refers to it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from hashlib import sha256
from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow
from tests.reference.database import Database
from tests.reference.sqlite import PLACE, CheckpointRows, SqliteReference
from tests.right_savers.registry import right

HELD = (
    "CREATE TABLE IF NOT EXISTS blobs (digest TEXT PRIMARY KEY, type TEXT NOT NULL, "
    "value BLOB NOT NULL, holders INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS held (thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, "
    "channel TEXT NOT NULL, digest TEXT NOT NULL REFERENCES blobs, "
    "PRIMARY KEY (thread, ns, id, channel))",
    "CREATE TRIGGER IF NOT EXISTS holds AFTER INSERT ON held BEGIN "
    "UPDATE blobs SET holders = holders + 1 WHERE digest = NEW.digest; END",
    "CREATE TRIGGER IF NOT EXISTS releases AFTER DELETE ON held BEGIN "
    "UPDATE blobs SET holders = holders - 1 WHERE digest = OLD.digest; "
    "DELETE FROM blobs WHERE digest = OLD.digest AND holders = 0; END",
    "CREATE TRIGGER IF NOT EXISTS forgets AFTER DELETE ON checkpoints BEGIN "
    "DELETE FROM held WHERE thread = OLD.thread AND ns = OLD.ns AND id = OLD.id; END",
)
JOINED = "joined"
"""The type of a checkpoint whose values lie beside it."""


class CountedReferences(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        for statement in HELD:
            connection.execute(statement)


@right(
    "values lie in a table of their own, by their digest, with a count of who refers to them",
    about={"atomicity", "channels", "cost", "deletion", "delta-history", "upsert"},
)
class ContentAddressed(SqliteReference):
    database_class = CountedReferences

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, {**checkpoint, "channel_values": {}}, metadata)
        values = {name: self._dump(value) for name, value in checkpoint["channel_values"].items()}
        with self.database.writing():
            self._insert_checkpoint(row)
            self._hold(row, values)
        return self._put_answer(config, row)

    def _hold(self, row: CheckpointRow, values: Any) -> None:
        place = (row.thread, row.ns, row.id)
        self.database.run(f"DELETE FROM held WHERE {PLACE}", *place)
        for channel, (kind, value) in values.items():
            digest = sha256(kind.encode() + b"\0" + value).hexdigest()
            self.database.run(
                "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, 0)", digest, kind, value
            )
            self.database.run("INSERT INTO held VALUES (?, ?, ?, ?, ?)", *place, channel, digest)

    def _copy_checkpoints(self, source: str, target: str) -> None:
        self.database.run(
            "DELETE FROM held WHERE thread = ? AND (ns, id) IN "
            "(SELECT ns, id FROM checkpoints WHERE thread = ?)",
            *(target, source),
        )
        super()._copy_checkpoints(source, target)
        self.database.run(
            "INSERT INTO held SELECT ?, ns, id, channel, digest FROM held WHERE thread = ?",
            *(target, source),
        )

    def _rows(self, where: str = "TRUE", *values: Any) -> CheckpointRows:
        rows = super()._rows(where, *values)
        return [replace(row, checkpoint=self._joined(row)) for row in rows]

    def _joined(self, row: CheckpointRow) -> Any:
        return JOINED, (row.checkpoint, self._values_of(row))

    def _values_of(self, row: CheckpointRow) -> dict[str, Any]:
        found = self.database.rows(
            f"SELECT channel, type, value FROM held JOIN blobs USING (digest) WHERE {PLACE}",
            *(row.thread, row.ns, row.id),
        )
        return {channel: (kind, value) for channel, kind, value in found}

    def _load(self, typed: Any) -> Any:
        if typed[0] != JOINED:
            return super()._load(typed)
        load, (body, values) = super()._load, typed[1]
        loaded = {channel: load(value) for channel, value in values.items()}
        return {**load(body), "channel_values": loaded}
