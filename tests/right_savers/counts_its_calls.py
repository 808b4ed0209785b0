"""A saver that counts its writes in a table on which none of its answers depends."""

from __future__ import annotations

import sqlite3

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


class Counting(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute("CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, n INTEGER)")

    def begin(self) -> None:
        """Count the attempt, whatever comes of it."""
        self.count("begun")
        super().begin()

    def commit(self) -> None:
        """Count what is stored; one that is not counted is stored all the same."""
        super().commit()
        self.count("done")

    def count(self, name: str) -> None:
        """Add one, in a transaction of its own."""
        self.connection.execute(
            "INSERT INTO counters VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET n = n + 1", (name,)
        )


@right("attempts to write are counted in a transaction of their own", about={"atomicity"})
class CountsItsCalls(SqliteReference):
    database_class = Counting
