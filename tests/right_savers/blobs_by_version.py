"""A saver that stores each version of a channel's value once, for all checkpoints that have it."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import Checkpoint

from tests.reference.database import Database
from tests.reference.sqlite import CheckpointRows, SqliteReference
from tests.reference.store import Blob, CheckpointRow
from tests.right_savers.registry import right

BLOB = "thread = ? AND ns = ? AND channel = ? AND version = ?"


class WithBlobs(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS blobs (thread TEXT NOT NULL, ns TEXT NOT NULL, "
            "channel TEXT NOT NULL, version TEXT NOT NULL, type TEXT NOT NULL, value BLOB, "
            "PRIMARY KEY (thread, ns, channel, version))"
        )


@right("values lie in a table of their own, by channel and version")
class BlobsByVersion(SqliteReference):
    database_class = WithBlobs

    def get_next_version(self, current: Any, channel: None) -> Any:
        # Two forks of one checkpoint must not name two values alike.
        return f"{super().get_next_version(current, None)}.{random.getrandbits(53):016}"

    def put(self, config: Any, checkpoint: Checkpoint, metadata: Any, new_versions: Any) -> Any:
        given, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        bare: Any = {**checkpoint, "channel_values": {}}
        row = self._row_of(config, bare, metadata)
        blobs = {
            channel: self._dump_value(given[channel]) for channel in versions if channel in given
        }
        with self.database.writing():
            self._insert_checkpoint(row)
            for channel, blob in blobs.items():
                # A version that is not new is there already, but for a copy in a fork.
                self.database.run(
                    "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?, ?)",
                    *(row.thread, row.ns, channel, versions[channel], *blob),
                )
        return self._put_answer(config, row)

    def _rows(self, where: str = "TRUE", *values: Any) -> CheckpointRows:
        return [self._with_values(row) for row in super()._rows(where, *values)]

    def _with_values(self, row: CheckpointRow) -> CheckpointRow:
        checkpoint: Any = self._load(row.checkpoint)
        for channel, version in checkpoint["channel_versions"].items():
            for kind, value in self.database.rows(
                f"SELECT type, value FROM blobs WHERE {BLOB}", row.thread, row.ns, channel, version
            ):
                checkpoint["channel_values"][channel] = self._load_value((kind, value))
        whole: Blob = self._dump(checkpoint)
        return replace(row, checkpoint=whole)

    def _copy_checkpoints(self, source: str, target: str) -> None:
        super()._copy_checkpoints(source, target)
        self.database.run(
            "INSERT OR REPLACE INTO blobs SELECT ?, ns, channel, version, type, value FROM blobs "
            "WHERE thread = ?",
            *(target, source),
        )

    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        self.database.run("DELETE FROM blobs WHERE thread = ?", thread)
