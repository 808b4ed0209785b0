"""One SQLite connection as a careful saver uses it: opened once, a transaction at a time."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

TABLES = (
    "CREATE TABLE IF NOT EXISTS checkpoints ("
    "thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, parent TEXT, "
    "type TEXT NOT NULL, checkpoint BLOB NOT NULL, "
    "metadata_type TEXT NOT NULL, metadata BLOB NOT NULL, "
    "PRIMARY KEY (thread, ns, id))",
    "CREATE TABLE IF NOT EXISTS writes ("
    "thread TEXT NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, "
    "task TEXT NOT NULL, position INTEGER NOT NULL, channel TEXT NOT NULL, "
    "type TEXT NOT NULL, value BLOB NOT NULL, path TEXT NOT NULL, "
    "PRIMARY KEY (thread, ns, id, task, position))",
)

WRITES_NOTHING = "PRAGMA incremental_vacuum(0)"
"""A statement that fails on a file which cannot be written, and leaves any other as it is.

SQLite opens for reading what it could not open for writing, and not even BEGIN IMMEDIATE tells.
"""


class Database:
    """A connection and its lock. Every hook is a place for a mistake."""

    journal_mode = "WAL"
    synchronous = "FULL"
    busy_timeout_s = 10.0

    def __init__(self, folder: Path) -> None:
        self.path = folder / "checkpoints.db"
        self.lock = threading.RLock()
        self.is_closed = False
        self.writable: sqlite3.Connection | None = None
        self.connection = self.connect()

    def connect(self) -> sqlite3.Connection:
        """Open the file, owner-only; one process at a time, since the switch to WAL cannot wait."""
        with closing_file(os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o600)) as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = self.open()
            try:
                self.configure(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def open(self) -> sqlite3.Connection:
        """Return a connection that any thread may use, and that begins nothing by itself."""
        return sqlite3.connect(
            self.path,
            timeout=self.busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )

    def configure(self, connection: sqlite3.Connection) -> None:
        """Set the pragmas, and make the tables if they are not there."""
        with closing(connection.execute(f"PRAGMA journal_mode={self.journal_mode}")) as cursor:
            cursor.fetchone()
        connection.execute(f"PRAGMA synchronous={self.synchronous}")
        for table in TABLES:
            connection.execute(table)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it, or nothing and the exception."""
        with self.lock:
            self.reconnect_if_lost()
            try:
                self.begin()
                yield
                self.commit()
            except BaseException:
                self.roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One view of the store, within which any number of statements read."""
        with self.lock:
            self.reconnect_if_lost()
            if self.connection.in_transaction:
                yield
                return
            try:
                self.connection.execute("BEGIN")
                yield
            finally:
                self.roll_back()

    def reconnect_if_lost(self) -> None:
        """Connect again if somebody else closed the connection."""
        try:
            self.connection.total_changes  # noqa: B018 (raises where the connection is closed)
        except sqlite3.ProgrammingError:
            if self.is_closed:
                raise
            self.connection = self.connect()

    def begin(self) -> None:
        """Take the write lock; on a connection that cannot write, of another one instead."""
        self.connection.execute("BEGIN IMMEDIATE")
        if self.connection is self.writable:
            return
        try:
            self.connection.execute(WRITES_NOTHING)
        except Exception as error:
            if not self.says_read_only(error):
                raise
            self.connection.close()
            self.connection = self.connect()
            self.connection.execute("BEGIN IMMEDIATE")
        else:
            self.writable = self.connection

    def says_read_only(self, error: Exception) -> bool:
        """Whether SQLite has opened the file for reading alone, as it does if opening fails."""
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY

    def commit(self) -> None:
        """Make the transaction durable."""
        self.connection.execute("COMMIT")

    def roll_back(self) -> None:
        """Leave no transaction open, even where rolling back fails."""
        if self.connection.in_transaction:
            try:
                self.connection.execute("ROLLBACK")
            except sqlite3.Error:
                self.connection.close()
                self.connection = self.connect()

    def run(self, statement: str, *values: Any) -> None:
        """Execute a statement that changes something."""
        self.connection.execute(statement, values)

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Execute a query."""
        with closing(self.connection.execute(statement, values)) as cursor:
            return cursor.fetchall()

    def close(self) -> None:
        """Close the connection; any number of times."""
        self.is_closed = True
        self.connection.close()


@contextmanager
def closing_file(descriptor: int) -> Iterator[int]:
    """Close a file descriptor in the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)
