"""A saver on a log of events, with a snapshot every so often in the place of what led to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from saverproof.mistakes.reference.store import ReferenceStore
from tests.reference.database import Database
from tests.reference.log_file import Event, Log, LogFileReference
from tests.reference.state_text import state_from, state_of
from tests.right_savers.registry import right

TABLES = (
    "CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, said TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS snapshots (one INTEGER PRIMARY KEY CHECK (one = 1), "
    "number INTEGER NOT NULL, state TEXT NOT NULL)",
)
EVERY = 5
"""Operations between two snapshots: few, so that short programs have several."""


class WithEvents(Database):
    """A database with the events since a snapshot, and with that."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        for table in TABLES:
            connection.execute(table)


class EventTable(Log):
    """The log: `read_to` is the number of the operation that was read last."""

    def __init__(self, path: Path, store: ReferenceStore) -> None:
        self.database = WithEvents(path)
        self.store = store
        self.read_to = 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One transaction; after a failure everything is read afresh."""
        try:
            with self.database.writing():
                yield
        except BaseException:
            self.store.shelves.clear()
            self.read_to = 0
            raise

    def news(self) -> Iterator[Event]:
        """What happened since, from a snapshot on if there is one meanwhile."""
        for number, state in self.database.rows(
            "SELECT number, state FROM snapshots WHERE number > ?", self.read_to
        ):
            self.read_to = number
            yield ["snapshot", "", "", state]
        for number, said in self.database.rows(
            "SELECT number, said FROM events WHERE number > ? ORDER BY number", self.read_to
        ):
            self.read_to = number
            yield from json.loads(said)

    def append(self, events: list[Event]) -> None:
        """Note an operation, or what all operations have led to."""
        self.read_to += 1
        if self.read_to % EVERY:
            said = json.dumps(events)
            self.database.run("INSERT INTO events VALUES (?, ?)", self.read_to, said)
            return
        self.database.run(
            "REPLACE INTO snapshots VALUES (1, ?, ?)", self.read_to, state_of(self.store)
        )
        self.database.run("DELETE FROM events")


@right(
    "a log of events, and every few operations a snapshot, which events before it go with",
    about={"atomicity", "deletion", "lifecycle", "serialization"},
    declines={
        "large": "the whole store is written for each snapshot",
        "separate_records": "the whole store is one snapshot",
    },
)
class WritesSnapshotsOfItsLog(LogFileReference):
    log: EventTable

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(ReferenceStore())
        saver.log = EventTable(path, saver.store)
        saver.events = []
        return saver

    def _redo_snapshot(self, thread: str, ns: str, state: str) -> None:
        self.store.shelves = state_from(state).shelves

    def close(self) -> None:
        self.log.database.close()
