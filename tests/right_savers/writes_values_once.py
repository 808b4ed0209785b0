"""A saver that stores equal values once, and counts how many checkpoints hold each."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Any

from saverproof.mistakes.reference.store import Blob, CheckpointRow
from tests.reference.blobs import BlobReference
from tests.reference.database import Database
from tests.reference.sqlite import PLACE, SqliteReference
from tests.right_savers.registry import right

CONTENTS = (
    "CREATE TABLE IF NOT EXISTS contents (hash TEXT PRIMARY KEY, type TEXT NOT NULL, "
    "value BLOB NOT NULL, holders INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS held (thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, "
    "channel TEXT NOT NULL, hash TEXT NOT NULL REFERENCES contents, "
    "PRIMARY KEY (thread, ns, id, channel))",
    "CREATE TRIGGER IF NOT EXISTS taken AFTER INSERT ON held BEGIN "
    "UPDATE contents SET holders = holders + 1 WHERE hash = NEW.hash; END",
    "CREATE TRIGGER IF NOT EXISTS dropped AFTER DELETE ON held BEGIN "
    "UPDATE contents SET holders = holders - 1 WHERE hash = OLD.hash; "
    "DELETE FROM contents WHERE hash = OLD.hash AND holders = 0; END",
)


class WithContents(Database):
    """A database with the values by content, and with what holds them."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        for statement in CONTENTS:
            connection.execute(statement)


@right(
    "values lie by the hash of their content, and go with the last checkpoint that holds them",
    about={"atomicity", "channels", "cost", "deletion", "delta-history", "upsert"},
)
class WritesValuesOnce(BlobReference):
    database_class = WithContents

    def _insert_blobs(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        place = (row.thread, row.ns, row.id)
        # Put again, a checkpoint may hold other values: a REPLACE would fire no trigger for these.
        self.database.run(f"DELETE FROM held WHERE {PLACE}", *place)
        for channel, (kind, value) in blobs.items():
            named = hashlib.sha256(b"%s\0%s" % (kind.encode(), value)).hexdigest()
            self.database.run(
                "INSERT OR IGNORE INTO contents VALUES (?, ?, ?, 0)", named, kind, value
            )
            self.database.run("INSERT INTO held VALUES (?, ?, ?, ?, ?)", *place, channel, named)

    def _blobs(self, row: CheckpointRow, channel: str, version: Any) -> list[Blob]:
        found = self.database.rows(
            f"SELECT type, value FROM held JOIN contents USING (hash) WHERE {PLACE} "
            "AND channel = ?",
            *(row.thread, row.ns, row.id, channel),
        )
        return [(kind, value) for kind, value in found]

    def _copy_checkpoints(self, source: str, target: str) -> None:
        SqliteReference._copy_checkpoints(self, source, target)
        self.database.run(
            "DELETE FROM held WHERE thread = ? AND (ns, id) IN "
            "(SELECT ns, id FROM checkpoints WHERE thread = ?)",
            *(target, source),
        )
        self.database.run(
            "INSERT INTO held SELECT ?, ns, id, channel, hash FROM held WHERE thread = ?",
            *(target, source),
        )

    def _delete(self, thread: str) -> None:
        SqliteReference._delete(self, thread)
        self.database.run("DELETE FROM held WHERE thread = ?", thread)

    def _delete_row(self, row: CheckpointRow) -> None:
        super()._delete_row(row)
        self.database.run(f"DELETE FROM held WHERE {PLACE}", row.thread, row.ns, row.id)
