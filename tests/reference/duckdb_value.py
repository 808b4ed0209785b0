"""A saver that keeps its store as one value of DuckDB, each operation one transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from tests.reference.one_value import OneValue, SharedDatabase


class DuckDatabase(SharedDatabase):
    """A connection to DuckDB, in a transaction while somebody has a turn."""

    connection: duckdb.DuckDBPyConnection

    def __init__(self, path: Path) -> None:
        self.lock = threading.Lock()
        super().__init__(path)

    def connect(self) -> None:
        self.connection = duckdb.connect(str(self.path), config={"threads": 1})
        self.connection.execute("CREATE TABLE IF NOT EXISTS state (data BLOB)")

    def disconnect(self) -> None:
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[DuckDatabase]:
        with self.lock:
            self.reopen()
            self.connection.execute("BEGIN")
            try:
                yield self
                self.connection.execute("COMMIT")
            except BaseException:
                # A commit that fails has ended the transaction.
                with suppress(duckdb.Error):
                    self.connection.execute("ROLLBACK")
                raise

    def read(self) -> bytes | None:
        found = self.connection.execute("SELECT data FROM state").fetchone()
        return None if found is None else found[0]

    def write(self, data: bytes) -> None:
        self.connection.execute("DELETE FROM state")
        self.connection.execute("INSERT INTO state VALUES (?)", [data])

    def is_dead(self) -> bool:
        """Whether its log could not be synced."""
        try:
            self.connection.execute("SELECT 1")
        except duckdb.FatalException:
            return True
        return False

    def mend(self) -> None:
        with self.lock:
            super().mend()


class DuckdbReference(OneValue):
    database_class, file = DuckDatabase, "checkpoints.duckdb"
