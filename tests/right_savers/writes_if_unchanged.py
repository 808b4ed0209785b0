"""A saver that locks nothing while it works: it stores if nobody else has, or works once more."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Self

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore
from tests.reference.database import Database
from tests.reference.state_file import StateFileReference
from tests.reference.state_text import state_from, state_of
from tests.right_savers.registry import right

STATE = (
    "CREATE TABLE IF NOT EXISTS state (one INTEGER PRIMARY KEY CHECK (one = 1), "
    "version INTEGER NOT NULL, data TEXT NOT NULL)"
)
NOTHING_KNOWN = -1


class WithVersion(Database):
    """A database with one row, and a version that each change counts up."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(STATE)
        connection.execute(
            "INSERT OR IGNORE INTO state VALUES (1, 0, ?)", (state_of(ReferenceStore()),)
        )

    def newer_than(self, version: int) -> list[tuple[int, str]]:
        """The state and its version, unless it is this one."""
        with self.reading():
            found = self.rows("SELECT version, data FROM state WHERE version != ?", version)
        return [(number, text) for number, text in found]

    def replaced(self, version: int, data: str) -> bool:
        """Whether the state was still of this version, and is now this one."""
        with self.writing():
            self.run(
                "UPDATE state SET version = version + 1, data = ? WHERE version = ?", data, version
            )
            [(changed,)] = self.rows("SELECT changes()")
        return bool(changed)


def _until_stored(name: str) -> Callable[..., Any]:
    @wraps(getattr(ReferenceSaver, name))
    def method(self: WritesIfUnchanged, *args: Any, **options: Any) -> Any:
        while True:
            with self.turn():
                answer = getattr(ReferenceSaver, name)(self, *args, **options)
                if self.is_stored():
                    return answer

    return method


@right(
    "the store is one row with a version: who finds another version there works once more",
    about={"atomicity"},
    declines={
        "large": "the whole store is written each time",
        "separate_records": "the whole store is one row",
    },
)
class WritesIfUnchanged(StateFileReference):
    database: WithVersion

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = cls(ReferenceStore())
        saver.database = WithVersion(path)
        saver.forget()
        return saver

    put = _until_stored("put")
    put_writes = _until_stored("put_writes")
    delete_thread = _until_stored("delete_thread")
    delete_for_runs = _until_stored("delete_for_runs")
    copy_thread = _until_stored("copy_thread")
    prune = _until_stored("prune")

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Threads of this saver take turns at what it knows; other savers may store meanwhile."""
        with self.store.lock:
            try:
                self.catch_up()
                yield
            except BaseException:
                self.forget()
                raise

    def catch_up(self) -> None:
        for version, data in self.database.newer_than(self.store.extra["version"]):
            self.store.shelves = state_from(data).shelves
            self.store.extra["version"] = version

    def forget(self) -> None:
        # A clone shares the store: so must what is known of it.
        self.store.shelves = {}
        self.store.extra["version"] = NOTHING_KNOWN

    def is_stored(self) -> bool:
        """Store what is known; if others have stored meanwhile, forget it."""
        version = self.store.extra["version"]
        stored = self.database.replaced(version, state_of(self.store))
        if stored:
            self.store.extra["version"] = version + 1
        else:
            self.forget()
        return stored

    def close(self) -> None:
        self.database.close()
