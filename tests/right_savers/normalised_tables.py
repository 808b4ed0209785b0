"""A saver on normalised tables, with a connection for each call and a rollback journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

NORMALISED = (
    "CREATE TABLE IF NOT EXISTS places (place INTEGER PRIMARY KEY, thread TEXT NOT NULL, "
    "ns TEXT NOT NULL, UNIQUE (thread, ns))",
    "CREATE TABLE IF NOT EXISTS checkpoint_rows (place INTEGER NOT NULL REFERENCES places, "
    "id TEXT NOT NULL, parent TEXT, type TEXT NOT NULL, checkpoint BLOB NOT NULL, "
    "metadata_type TEXT NOT NULL, metadata BLOB NOT NULL, PRIMARY KEY (place, id))",
    "CREATE TABLE IF NOT EXISTS write_rows (place INTEGER NOT NULL REFERENCES places, "
    "id TEXT NOT NULL, task TEXT NOT NULL, position INTEGER NOT NULL, channel TEXT NOT NULL, "
    "type TEXT NOT NULL, value BLOB NOT NULL, path TEXT NOT NULL, "
    "PRIMARY KEY (place, id, task, position))",
    "CREATE VIEW IF NOT EXISTS checkpoints AS SELECT thread, ns, id, parent, type, checkpoint, "
    "metadata_type, metadata FROM checkpoint_rows JOIN places USING (place)",
    "CREATE VIEW IF NOT EXISTS writes AS SELECT thread, ns, id, task, position, channel, type, "
    "value, path FROM write_rows JOIN places USING (place)",
)
OF_THREAD = "place IN (SELECT place FROM places WHERE thread = ?)"
OF_PLACE = "place = (SELECT place FROM places WHERE thread = ? AND ns = ?)"
SAME_PLACE = (
    "JOIN places USING (place) "
    "JOIN places AS target ON target.thread = ? AND target.ns = places.ns WHERE places.thread = ?"
)


class ConnectionPerCall(Database):
    """Has a connection only while something is read or written."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.connection.close()

    def open(self) -> sqlite3.Connection:
        connection = super().open()
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            # Without a WAL, FULL does not sync the folder once the journal is deleted.
            connection.execute("PRAGMA synchronous = EXTRA")
        except BaseException:
            connection.close()
            raise
        return connection

    def configure(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("BEGIN IMMEDIATE")
            for statement in NORMALISED:
                connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise

    def reconnect_if_lost(self) -> None:
        if self.is_closed:
            raise sqlite3.ProgrammingError("the saver is closed")

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock, closing(self._connected()), super().writing():
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            if self._is_in_use():
                yield
                return
            with closing(self._connected()), super().reading():
                yield

    def _connected(self) -> sqlite3.Connection:
        self.reconnect_if_lost()
        self.connection = self.open()
        return self.connection

    def _is_in_use(self) -> bool:
        try:
            return self.connection.in_transaction
        except sqlite3.ProgrammingError:
            return False

    def roll_back(self) -> None:
        """Closing the connection rolls back what this cannot."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


@right(
    "rows of five columns refer to places; each call has a connection, and no WAL",
    about={"atomicity", "deletion", "pending-writes", "upsert"},
)
class NormalisedTables(SqliteReference):
    database_class = ConnectionPerCall

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        self._insert_place(row.thread, row.ns)
        self.database.run(
            "INSERT INTO checkpoint_rows SELECT place, ?, ?, ?, ?, ?, ? FROM places "
            "WHERE thread = ? AND ns = ? ON CONFLICT (place, id) DO UPDATE SET "
            "parent = excluded.parent, type = excluded.type, checkpoint = excluded.checkpoint, "
            "metadata_type = excluded.metadata_type, metadata = excluded.metadata",
            *(row.id, row.parent, *row.checkpoint, *row.metadata, row.thread, row.ns),
        )

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        thread, ns, id = place
        if rows:
            self._insert_place(thread, ns)
        for row in rows:
            conflict = "REPLACE" if row.index < 0 else "IGNORE"
            self.database.run(
                f"INSERT OR {conflict} INTO write_rows SELECT place, ?, ?, ?, ?, ?, ?, ? "
                "FROM places WHERE thread = ? AND ns = ?",
                *(id, row.task_id, row.index, row.channel, *row.value, row.path, thread, ns),
            )

    def _insert_place(self, thread: str, ns: str) -> None:
        self.database.run("INSERT OR IGNORE INTO places (thread, ns) VALUES (?, ?)", thread, ns)

    def _copy_checkpoints(self, source: str, target: str) -> None:
        self.database.run(
            "INSERT OR IGNORE INTO places (thread, ns) SELECT ?, ns FROM places WHERE thread = ?",
            *(target, source),
        )
        self.database.run(
            "INSERT INTO checkpoint_rows SELECT target.place, id, parent, type, checkpoint, "
            f"metadata_type, metadata FROM checkpoint_rows {SAME_PLACE}",
            *(target, source),
        )

    def _copy_writes(self, source: str, target: str) -> None:
        self.database.run(
            "INSERT INTO write_rows SELECT target.place, id, task, position, channel, type, "
            f"value, path FROM write_rows {SAME_PLACE}",
            *(target, source),
        )

    def _delete(self, thread: str) -> None:
        for table in ("checkpoint_rows", "write_rows"):
            self.database.run(f"DELETE FROM {table} WHERE {OF_THREAD}", thread)
        self.database.run("DELETE FROM places WHERE thread = ?", thread)

    def _delete_row(self, row: Any) -> None:
        for table in ("checkpoint_rows", "write_rows"):
            self.database.run(
                f"DELETE FROM {table} WHERE {OF_PLACE} AND id = ?", row.thread, row.ns, row.id
            )
