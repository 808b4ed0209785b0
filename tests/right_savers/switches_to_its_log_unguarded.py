"""A saver whose openings get in each other's way, which is all that it may be told."""

from __future__ import annotations

import os
import sqlite3

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


class SwitchingUnguarded(Database):
    def connect(self) -> sqlite3.Connection:
        """Open the file, owner-only. SQLite refuses at once to switch to its log while another
        connection does: "database is locked", however long the busy time-out.
        """
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = self.open()
        try:
            self.configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection


@right(
    "processes switch a new database to its log with nothing that keeps them apart",
    about={"atomicity"},
    advice={"concurrency/first-use-race": "the switch to the log waits for nobody"},
)
class SwitchesToItsLogUnguarded(SqliteReference):
    database_class = SwitchingUnguarded
