"""A saver on SQLite that keeps the values of channels in a table of their own, by version."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import Checkpoint

from saverproof.mistakes.reference.store import Blob, CheckpointRow
from tests.reference.database import Database
from tests.reference.sqlite import CheckpointRows, SqliteReference

BLOB = "thread = ? AND ns = ? AND channel = ? AND version = ?"


class WithBlobs(Database):
    """A database with that table."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS blobs (thread TEXT NOT NULL, ns TEXT NOT NULL, "
            "channel TEXT NOT NULL, version TEXT NOT NULL, type TEXT NOT NULL, value BLOB, "
            "PRIMARY KEY (thread, ns, channel, version))"
        )


class BlobReference(SqliteReference):
    """Right; every hook is a place for a mistake."""

    database_class = WithBlobs

    def get_next_version(self, current: Any, channel: None) -> Any:
        # Two forks of one checkpoint must not name two values alike.
        return f"{super().get_next_version(current, None)}.{random.getrandbits(53):016}"

    def _is_inline(self, value: Any) -> bool:
        """Whether a value stays with its checkpoint."""
        return False

    def put(self, config: Any, checkpoint: Checkpoint, metadata: Any, new_versions: Any) -> Any:
        given, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        inline = {channel: value for channel, value in given.items() if self._is_inline(value)}
        bare: Any = {**checkpoint, "channel_values": inline}
        row = self._row_of(config, bare, metadata)
        blobs = {
            channel: self._dump_value(value)
            for channel, value in given.items()
            if channel in versions and channel not in inline
        }
        self._store(row, blobs, versions)
        return self._put_answer(config, row)

    def _store(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        with self.database.writing():
            self._insert_checkpoint(row)
            self._insert_blobs(row, blobs, versions)

    def _insert_blobs(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        for channel, blob in blobs.items():
            # A version that is not new is there already, but for a copy in a fork.
            self.database.run(
                "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?, ?, ?)",
                *(row.thread, row.ns, channel, versions[channel], *blob),
            )

    def _rows(self, where: str = "TRUE", *values: Any) -> CheckpointRows:
        return [self._with_values(row) for row in super()._rows(where, *values)]

    def _with_values(self, row: CheckpointRow) -> CheckpointRow:
        checkpoint: Any = self._load(row.checkpoint)
        for channel, version in checkpoint["channel_versions"].items():
            for blob in self._blobs(row, channel, version):
                checkpoint["channel_values"][channel] = self._load_value(blob)
        whole: Blob = self._dump(checkpoint)
        return replace(row, checkpoint=whole)

    def _blobs(self, row: CheckpointRow, channel: str, version: Any) -> list[Blob]:
        """The value of a version, if it has one here."""
        found = self.database.rows(
            f"SELECT type, value FROM blobs WHERE {BLOB}", row.thread, row.ns, channel, version
        )
        return [(kind, value) for kind, value in found]

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


class InlineScalars(BlobReference):
    """Right, too: as savers for Postgres and MySQL do, it stores scalars with their checkpoint."""

    def _is_inline(self, value: Any) -> bool:
        return value is None or isinstance(value, str | int | float | bool)
