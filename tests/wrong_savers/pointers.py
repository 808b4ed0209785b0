"""Savers that note the latest checkpoint of a namespace, and whose note a failure leaves wrong."""

from __future__ import annotations

import sqlite3
from typing import Any

from langchain_core.runnables import RunnableConfig

from saverproof.mistakes.reference.store import CheckpointRow
from tests.reference.database import Database
from tests.reference.sqlite import PLACE, SqliteReference
from tests.wrong_savers.registry import wrong

WHOLE = "atomicity/all-or-nothing"
KILLED = "durability/in-flight-atomic"


class WithPointers(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS latest (thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT, "
            "PRIMARY KEY (thread, ns))"
        )


class Pointing(SqliteReference):
    """Right by itself: the note is changed with what it points to."""

    database_class = WithPointers

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(row)
        self._point(row.thread, row.ns, row.id)

    def _point(self, thread: str, ns: str, id: str) -> None:
        self.database.run(
            "INSERT INTO latest VALUES (?, ?, ?) ON CONFLICT (thread, ns) DO UPDATE SET "
            "id = max(coalesce(id, ''), excluded.id)",
            *(thread, ns, id),
        )

    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        self._point_nowhere(thread)

    def _point_nowhere(self, thread: str) -> None:
        self.database.run("UPDATE latest SET id = NULL WHERE thread = ?", thread)

    def _delete_row(self, row: CheckpointRow) -> None:
        super()._delete_row(row)
        self.database.run(f"DELETE FROM latest WHERE {PLACE}", row.thread, row.ns, row.id)

    def _find(self, config: RunnableConfig) -> CheckpointRow | None:
        if self._asked_id(config) is None:
            key = (self._thread_of(config), self._get_ns(config))
            for (id,) in self.database.rows(
                "SELECT id FROM latest WHERE thread = ? AND ns = ?", *key
            ):
                return next(iter(self._rows(PLACE, *key, id)), None)
        return super()._find(config)


@wrong(WHOLE, "the latest id is noted before the checkpoint is stored", also={KILLED})
class LatestNotedFirst(Pointing):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        with self.database.writing():
            self._point(self._thread_of(config), self._put_ns(config), checkpoint["id"])
        return super().put(config, checkpoint, metadata, new_versions)


@wrong(WHOLE, "the note of the latest id is struck out before a thread is deleted", also={KILLED})
class LatestStruckOutFirst(Pointing):
    def delete_thread(self, thread_id: str) -> None:
        with self.database.writing():
            self._point_nowhere(str(thread_id))
        super().delete_thread(thread_id)
