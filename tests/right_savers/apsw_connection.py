"""A saver on SQLite through APSW, which Python's sqlite3 and its hooks know nothing of."""

from __future__ import annotations

import sqlite3
from typing import Any

import apsw

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


class ApswDatabase(Database):
    connection: Any

    def open(self) -> sqlite3.Connection:
        connection: Any = apsw.Connection(str(self.path))
        connection.set_busy_timeout(int(self.busy_timeout_s * 1_000))
        return connection  # type: ignore[no-any-return]

    def reconnect_if_lost(self) -> None:
        """Nobody else has the connection."""

    def says_read_only(self, error: Exception) -> bool:
        return isinstance(error, apsw.ReadOnlyError)

    def roll_back(self) -> None:
        if self.connection.in_transaction:
            try:
                self.connection.execute("ROLLBACK")
            except apsw.Error:
                self.connection.close(True)
                self.connection = self.connect()


@right("SQLite through APSW, each operation one transaction", about={"atomicity"})
class ApswConnection(SqliteReference):
    database_class = ApswDatabase
