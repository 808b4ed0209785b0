"""A saver whose target makes the database: it opens, sets up and notes things by statements too."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right
from tests.wrong_savers.registry import WorkspaceLike


@contextmanager
def opened(workspace: WorkspaceLike) -> Iterator[BaseCheckpointSaver[Any]]:
    """Make the database as an application does, which is none of the saver's doing."""
    path = workspace.path / "checkpoints.db"
    path.touch(mode=0o600)
    with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS openings (number INTEGER)")
        connection.execute("CREATE INDEX IF NOT EXISTS by_number ON openings (number)")
        # Neither is in a transaction: the application can live without them.
        connection.execute("DELETE FROM openings WHERE number > 100")
        connection.execute("INSERT INTO openings SELECT count(*) FROM openings")
    with closing(SqliteReference.at(workspace.path)) as saver:
        yield saver


@right(
    "the target makes the database and writes to it at each opening",
    about={"atomicity"},
    make=opened,
)
class OpenerOfItsOwn(SqliteReference):
    """Nothing but what its base does."""
