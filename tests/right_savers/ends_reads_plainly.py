"""A saver that reads in a transaction and ends it by a ROLLBACK that nothing guards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


class ReadingInTransactions(Database):
    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            self.reconnect_if_lost()
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("ROLLBACK")


@right(
    "a put looks first whether the same is stored: a read, which a ROLLBACK ends unguarded",
    about={"atomicity"},
)
class EndsReadsPlainly(SqliteReference):
    database_class = ReadingInTransactions

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, checkpoint, metadata)
        with self.database.reading():
            stored = self._rows("thread = ? AND ns = ? AND id = ?", row.thread, row.ns, row.id)
        if stored == [row]:
            return self._put_answer(config, row)
        return super().put(config, checkpoint, metadata, new_versions)
