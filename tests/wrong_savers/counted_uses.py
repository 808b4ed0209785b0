"""Savers that keep each value once and count who uses it, and count wrongly."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saverproof.mistakes.reference.store import Blob, CheckpointRow, WriteRow
from tests.reference.paged import PagedReference, WithRuns
from tests.wrong_savers.registry import wrong

SPACE = "cost/space-given-back"
BYTES = "cost/bytes-per-step"


class WithUses(WithRuns):
    """A database that keeps each value once, with the number of those who use it."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS shelf (value BLOB PRIMARY KEY, uses INTEGER NOT NULL)"
        )


class CountedUses(PagedReference):
    """Drops a value with its last use. Where a value is used, it is kept as well: as a copy."""

    database_class = WithUses

    def _use(self, values: Iterable[bytes]) -> None:
        for value in values:
            self.database.run(
                "INSERT INTO shelf VALUES (?, 1) ON CONFLICT DO UPDATE SET uses = uses + 1", value
            )

    def _release(self, table: str, thread: str) -> None:
        for (value,) in self.database.rows(f"SELECT value FROM {table} WHERE thread = ?", thread):
            self.database.run("UPDATE shelf SET uses = uses - 1 WHERE value = ?", value)
            self.database.run("DELETE FROM shelf WHERE value = ? AND uses < 1", value)


@wrong(SPACE, "a value that is put again is counted again, and outlives its thread", also={BYTES})
class PutAgainIsCountedAgain(CountedUses):
    def _insert_blobs(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        super()._insert_blobs(row, blobs, versions)
        self._use(value for _, value in blobs.values())

    def _delete(self, thread: str) -> None:
        self._release("blobs", thread)
        super()._delete(thread)


@wrong(SPACE, "a copy counts each value twice, so that it outlives both threads")
class CopiesCountTwice(CountedUses):
    def _copy_writes(self, source: str, target: str) -> None:
        super()._copy_writes(source, target)
        for (value,) in self.database.rows("SELECT value FROM blobs WHERE thread = ?", target):
            # The source's own use, and two for the copy.
            self.database.run(
                "INSERT INTO shelf VALUES (?, 3) ON CONFLICT DO UPDATE SET uses = uses + 2", value
            )

    def _delete(self, thread: str) -> None:
        self._release("blobs", thread)
        super()._delete(thread)


@wrong(SPACE, "a write that replaces another one does not let go of its value")
class ReplacedWritesAreKept(CountedUses):
    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        super()._insert_writes(place, rows)
        self._use(row.value[1] for row in rows)

    def _delete(self, thread: str) -> None:
        self._release("writes", thread)
        super()._delete(thread)
