"""Savers that begin before their `try`, and that have no transaction for a lone statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from saverproof.mistakes.reference.store import WriteRow
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


class BeginningFirst(Database):
    def begin(self) -> None:
        """Begin, or leave nothing begun: what comes with a BEGIN may fail once that is done."""
        try:
            super().begin()
        except BaseException:
            self.roll_back()
            raise

    @contextmanager
    def writing(self) -> Iterator[None]:
        """BEGIN that fails has begun nothing, so that nothing needs to be rolled back."""
        with self.lock:
            self.reconnect_if_lost()
            self.begin()
            try:
                yield
                self.commit()
            except BaseException:
                self.roll_back()
                raise


@right(
    "BEGIN IMMEDIATE stands before the `try`: one that fails has begun nothing", about={"atomicity"}
)
class BeginsBeforeItsTry(SqliteReference):
    database_class = BeginningFirst


@right("a batch of one write is one INSERT, which commits itself", about={"atomicity"})
class CommitsLoneInsert(SqliteReference):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if len(writes) != 1:
            super().put_writes(config, writes, task_id, task_path)
            return
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows: list[WriteRow] = self._rows_of_batch(writes, task_id, task_path)
        with self.database.lock:
            self.database.reconnect_if_lost()
            self._insert_writes(place, rows)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, checkpoint, metadata)
        with self.database.lock:
            self.database.reconnect_if_lost()
            self._insert_checkpoint(row)
        return self._put_answer(config, row)
