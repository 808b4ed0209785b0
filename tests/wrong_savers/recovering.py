"""Savers that lose what they acknowledged where only going on after a crash shows it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from tests.reference.log_file import Event, Log, LogFileReference, whole
from tests.reference.sqlite import PLACE, SqliteReference
from tests.wrong_savers.registry import wrong

Place = tuple[str, str, str]


class LogWrittenAgain(Log):
    """Gets rid of a torn tail by writing the whole of the log again, in its place."""

    def news(self) -> Iterator[Event]:
        data = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0)
        lines = data.splitlines(keepends=True)
        good = [line for line in lines if whole(line) is not None]
        if len(good) < len(lines):
            os.ftruncate(self.descriptor, 0)
            os.pwrite(self.descriptor, b"".join(good), 0)
            os.fsync(self.descriptor)
        unread = b"".join(good)[self.read_to :]
        self.read_to += len(unread)
        for line in unread.splitlines(keepends=True):
            yield from whole(line) or ()


@wrong(
    "durability/acknowledged-survives",
    "a recovery empties the log and writes what was whole of it again: it must not be killed",
    also={"durability/in-flight-atomic"},
)
class RecoveredInPlace(LogFileReference):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        os.close(saver.log.descriptor)
        saver.log = LogWrittenAgain(path / "checkpoints.log")
        return saver


@wrong(
    "durability/acknowledged-survives",
    "writes wait in memory for their checkpoint, and are stored with it, or when all is closed",
)
class EarlyWritesWait(SqliteReference):
    def _waiting(self) -> dict[Place, list[Sequence[WriteRow]]]:
        waiting: dict[Place, list[Sequence[WriteRow]]] = self.__dict__.setdefault("waiting", {})
        return waiting

    def _insert_writes(self, place: Place, rows: Sequence[WriteRow]) -> None:
        if self.database.rows(f"SELECT id FROM checkpoints WHERE {PLACE}", *place):
            super()._insert_writes(place, rows)
        else:
            self._waiting().setdefault(place, []).append(rows)

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(row)
        place = (row.thread, row.ns, row.id)
        for rows in self._waiting().pop(place, []):
            super()._insert_writes(place, rows)

    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        for place in [known for known in self._waiting() if known[0] == thread]:
            del self._waiting()[place]

    def close(self) -> None:
        if not self.is_clone and self._waiting():
            with self.database.writing():
                for place, batches in self._waiting().items():
                    for rows in batches:
                        super()._insert_writes(place, rows)
            self._waiting().clear()
        super().close()
