"""A saver whose writes lie in another file than its checkpoints: one commit is over both."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from tests.reference.database import TABLES, Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


class TwoFiles(Database):
    """With rollback journals a super-journal makes the two commits one; with WAL nothing does."""

    journal_mode = "DELETE"
    synchronous = "EXTRA"

    def configure(self, connection: sqlite3.Connection) -> None:
        beside = f"{self.path}.writes"
        os.close(os.open(beside, os.O_RDWR | os.O_CREAT, 0o600))
        connection.execute("ATTACH ? AS beside", (beside,))
        for schema in ("main", "beside"):
            mode = f"PRAGMA {schema}.journal_mode={self.journal_mode}"
            with closing(connection.execute(mode)) as cursor:
                cursor.fetchone()
            connection.execute(f"PRAGMA {schema}.synchronous={self.synchronous}")
        checkpoints, writes = TABLES
        connection.execute(checkpoints)
        connection.execute(writes.replace("EXISTS writes", "EXISTS beside.writes"))


@right(
    "checkpoints and writes lie in two files, which a rollback journal each keeps together",
    about={"atomicity"},
)
class AttachedFiles(SqliteReference):
    database_class = TwoFiles
