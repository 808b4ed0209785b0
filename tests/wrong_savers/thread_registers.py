"""Savers that note the threads that list(None) shows, and whose note a failure leaves wrong."""

from __future__ import annotations

import sqlite3
from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow
from tests.reference.database import Database
from tests.reference.sqlite import CheckpointRows, SqliteReference
from tests.wrong_savers.registry import wrong

WHOLE = "atomicity/all-or-nothing"
IN_FLIGHT = "durability/in-flight-atomic"
POWER = "durability/power-cut"


class WithThreads(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute("CREATE TABLE IF NOT EXISTS noted (thread TEXT PRIMARY KEY)")


class NotingThreads(SqliteReference):
    """Right by itself: a thread is noted with what is put there, and struck out with it."""

    database_class = WithThreads

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(row)
        self._note(row.thread)

    def _copy_checkpoints(self, source: str, target: str) -> None:
        super()._copy_checkpoints(source, target)
        self._note(target)

    def _note(self, thread: str) -> None:
        self.database.run("INSERT OR IGNORE INTO noted VALUES (?)", thread)

    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        self._strike_out(thread)

    def _strike_out(self, thread: str) -> None:
        self.database.run("DELETE FROM noted WHERE thread = ?", thread)

    def _selected(self, config: Any) -> CheckpointRows:
        if config is None:
            return self._rows("thread IN (SELECT thread FROM noted)")
        return super()._selected(config)


@wrong(WHOLE, "a thread is struck out of list(None) before it is deleted", also={IN_FLIGHT, POWER})
class ThreadStruckOutFirst(NotingThreads):
    def delete_thread(self, thread_id: str) -> None:
        with self.database.writing():
            self._strike_out(str(thread_id))
        super().delete_thread(thread_id)


@wrong(IN_FLIGHT, "a thread is noted for list(None) after what was put", also={WHOLE, POWER})
class ThreadNotedLater(NotingThreads):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        with self.database.writing():
            super()._note(self._thread_of(config))
        return answer

    def _note(self, thread: str) -> None:
        """Leave it to what comes after the put."""

    def _copy_checkpoints(self, source: str, target: str) -> None:
        super()._copy_checkpoints(source, target)
        super()._note(target)
