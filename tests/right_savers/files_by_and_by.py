"""A saver that commits what is to be done, and does it later: a thread moves it to its tables."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ormsgpack

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

JOURNAL = (
    "CREATE TABLE IF NOT EXISTS journal (position INTEGER PRIMARY KEY, "
    "statement TEXT NOT NULL, given BLOB NOT NULL)"
)
PAUSE_S = 0.005
"""Seconds between a commit and the move, longer than a call takes."""


class Journal(Database):
    """Commits statements, which are executed by whoever reads or writes next, or by the thread."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.committed, self.closing = threading.Event(), threading.Event()

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(JOURNAL)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with super().writing():
            self.move()
            yield
        self.committed.set()

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            if not self.connection.in_transaction and self.is_behind():
                with super().writing():
                    self.move()
            with super().reading():
                yield

    def run(self, statement: str, *values: Any) -> None:
        refuse_what_sqlite_would(values)
        self.connection.execute(
            "INSERT INTO journal (statement, given) VALUES (?, ?)",
            (statement, ormsgpack.packb(values)),
        )

    def is_behind(self) -> bool:
        """Whether something is in the journal."""
        self.reconnect_if_lost()
        return bool(self.rows("SELECT 1 FROM journal LIMIT 1"))

    def move(self) -> None:
        """Execute what is in the journal, within the transaction that is open."""
        for statement, given in self.rows("SELECT statement, given FROM journal ORDER BY position"):
            self.connection.execute(statement, ormsgpack.unpackb(given))
        self.connection.execute("DELETE FROM journal")

    def follow(self) -> None:
        """Move what was committed; what cannot be moved stays where it is."""
        while True:
            self.committed.wait()
            self.committed.clear()
            if self.closing.wait(PAUSE_S):
                return
            with suppress(sqlite3.Error), self.reading():
                pass

    def stop(self) -> None:
        """End the thread."""
        self.closing.set()
        self.committed.set()


def refuse_what_sqlite_would(values: Sequence[Any]) -> None:
    """Raise for a text that cannot be encoded."""
    for value in values:
        if isinstance(value, str):
            value.encode()


def _following(database: Callable[[], Journal | None]) -> None:
    if (journal := database()) is not None:
        journal.follow()


@right("what is to be done is committed, and done later by a thread", about={"atomicity"})
class FilesByAndBy(SqliteReference):
    database_class = Journal
    database: Journal

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        following = weakref.ref(self.database)
        self.mover = threading.Thread(target=_following, args=(following,), daemon=True)
        self.mover.start()

    def close(self) -> None:
        """Close the file; whoever opens it finds the journal."""
        if not self.is_clone:
            self.database.stop()
            self.mover.join()
        super().close()
