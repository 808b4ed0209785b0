"""Savers that keep the values of channels apart from checkpoints, and tear the two asunder.

Scalars lie with their checkpoint: what fails shows only in other values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from saverproof.mistakes.reference.store import Blob, CheckpointRow
from tests.reference.blobs import BLOB, InlineScalars, WithBlobs
from tests.wrong_savers.registry import wrong

WHOLE = "atomicity/all-or-nothing"
PREVIOUS = "atomicity/previous-intact"
KILLED = "durability/in-flight-atomic"
POWER = "durability/power-cut"


@wrong(WHOLE, "values are stored in a second transaction", also={KILLED})
class BlobsInASecondTransaction(InlineScalars):
    def _store(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        with self.database.writing():
            self._insert_checkpoint(row)
        with self.database.writing():
            self._insert_blobs(row, blobs, versions)


class WithArchive(WithBlobs):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute("CREATE TABLE IF NOT EXISTS archive AS SELECT * FROM blobs WHERE FALSE")


@wrong(
    PREVIOUS,
    "the current value of a channel is replaced before the old one is put into the archive",
    also={WHOLE, KILLED},
)
class OlderValuesArchivedLate(InlineScalars):
    database_class = WithArchive

    def _store(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        of = (row.thread, row.ns)
        archived = []
        with self.database.writing():
            for channel in blobs:
                query = "FROM blobs WHERE thread = ? AND ns = ? AND channel = ? AND version != ?"
                key = (*of, channel, versions[channel])
                archived += self.database.rows(f"SELECT * {query}", *key)
                self.database.run(f"DELETE {query}", *key)
            self._insert_blobs(row, blobs, versions)
        with self.database.writing():
            for older in archived:
                self.database.run("INSERT INTO archive VALUES (?, ?, ?, ?, ?, ?)", *older)
            self._insert_checkpoint(row)

    def _blobs(self, row: CheckpointRow, channel: str, version: Any) -> list[Blob]:
        archived = self.database.rows(
            f"SELECT type, value FROM archive WHERE {BLOB}", row.thread, row.ns, channel, version
        )
        return super()._blobs(row, channel, version) or [(kind, value) for kind, value in archived]

    def _copy_checkpoints(self, source: str, target: str) -> None:
        super()._copy_checkpoints(source, target)
        self.database.run(
            "INSERT INTO archive SELECT ?, ns, channel, version, type, value FROM archive "
            "WHERE thread = ?",
            *(target, source),
        )

    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        self.database.run("DELETE FROM archive WHERE thread = ?", thread)


LARGE = 4_096
"""Bytes from which a value is put into a file."""


# A file that was begun cannot be read.
@wrong(
    KILLED,
    "large values are written to files beside the database, after COMMIT",
    also={"durability/reopens", POWER},
)
class LargeValuesBesideTheDatabase(InlineScalars):
    def _insert_blobs(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        small = {name: blob for name, blob in blobs.items() if len(blob[1]) < LARGE}
        super()._insert_blobs(row, small, versions)

    def _store(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        super()._store(row, blobs, versions)
        for channel, (kind, value) in blobs.items():
            if len(value) >= LARGE:
                file = self._file(row, channel, versions[channel])
                self._write(file, kind.encode() + b"\n" + value)

    def _blobs(self, row: CheckpointRow, channel: str, version: Any) -> list[Blob]:
        file = self._file(row, channel, version)
        if file.exists():
            kind, _, value = file.read_bytes().partition(b"\n")
            return [(kind.decode(), value)]
        return super()._blobs(row, channel, version)

    def _copy_checkpoints(self, source: str, target: str) -> None:
        super()._copy_checkpoints(source, target)
        for row in self._rows("thread = ?", source):
            for channel, version in self._load(row.checkpoint)["channel_versions"].items():
                file = self._file(row, channel, version)
                if file.exists():
                    copy = self._file(replace(row, thread=target), channel, version)
                    self._write(copy, file.read_bytes())

    def _write(self, file: Path, data: bytes) -> None:
        file.write_bytes(data)

    def _file(self, row: CheckpointRow, channel: str, version: Any) -> Path:
        name = repr((row.thread, row.ns, channel, version)).encode()
        return self.database.path.with_name(f"{sha256(name).hexdigest()}.value")


@wrong(POWER, "large values are in place before COMMIT, in files that nothing has synced")
class LargeValuesNeverSynced(LargeValuesBesideTheDatabase):
    def _store(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        for channel, (kind, value) in blobs.items():
            if len(value) >= LARGE:
                file = self._file(row, channel, versions[channel])
                self._write(file, kind.encode() + b"\n" + value)
        super(LargeValuesBesideTheDatabase, self)._store(row, blobs, versions)

    def _write(self, file: Path, data: bytes) -> None:
        new = file.with_suffix(f".{uuid4()}")
        new.write_bytes(data)
        new.replace(file)
