"""A saver whose key is the thread and the id: LangGraph's ids are unique in a thread."""

from __future__ import annotations

import sqlite3

from saverproof.mistakes.reference.store import CheckpointRow
from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


class KeyedById(Database):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute("CREATE UNIQUE INDEX IF NOT EXISTS by_id ON checkpoints (thread, id)")


@right(
    "the key of a checkpoint is its thread and its id, which is a uuid6",
    about={"graph", "identity", "isolation"},
    advice={"isolation/same-id-in-namespaces": "LangGraph makes each id anew"},
)
class IdIsTheKey(SqliteReference):
    database_class = KeyedById

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        self.database.run(
            "DELETE FROM checkpoints WHERE thread = ? AND id = ? AND ns != ?",
            *(row.thread, row.id, row.ns),
        )
        super()._insert_checkpoint(row)
