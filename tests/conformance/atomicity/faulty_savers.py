"""Savers with one flaw each, for the scripts that show it: each can be opened by its name alone."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.interrupted import RollingBackExceptions

from saverproof.mistakes.reference.store import WriteRow
from saverproof.savers.targets.target import Target

Place = tuple[str, str, str]


class DiskErrorsSwallowed(Database):
    """Takes an error of the disk for nothing."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with super().writing():
                yield
        except sqlite3.OperationalError as error:
            if "disk I/O" not in str(error):
                raise


class OnDisk(SqliteReference):
    database_class = DiskErrorsSwallowed


class SerializedOnTheWay(SqliteReference):
    """Serializes each value when the rows before it are stored already, each by itself."""

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        for number in range(len(writes)):
            (row,) = self._rows_of_batch([writes[number]], task_id, task_path)
            with self.database.writing():
                position = row.index if row.index < 0 else number
                self._insert_writes(place, [WriteRow(*_at(row, position))])


def _at(row: WriteRow, position: int) -> tuple[Any, ...]:
    return (row.task_id, position, row.channel, row.value, row.path)


class RewrittenOnOpening(SqliteReference):
    """On every opening all checkpoints are read, deleted, and inserted again."""

    def setup(self) -> None:
        database = self.database
        found = database.rows("SELECT * FROM checkpoints")
        with database.writing():
            database.run("DELETE FROM checkpoints")
        with database.writing():
            for row in found:
                database.run("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)


class GivingUp(Database):
    """Refuses to work when it has failed twice in a row."""

    failed = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        if self.failed > 1:
            raise sqlite3.ProgrammingError("the saver failed too often")
        try:
            with super().writing():
                yield
        except BaseException:
            self.failed += 1
            raise
        self.failed = 0


class FailingTwice(SqliteReference):
    database_class = GivingUp


class RowsApart(SqliteReference):
    """Commits each row of a batch."""

    def _insert_writes(self, place: Place, rows: Sequence[WriteRow]) -> None:
        for row in rows:
            super()._insert_writes(place, [row])
            self.database.commit()
            self.database.begin()


class UndoingExceptionsAlone(SqliteReference):
    """Rolls back when an `Exception` is raised, and leaves what an interrupt comes into."""

    database_class = RollingBackExceptions


class EndingTheProcess(SqliteReference):
    """Leaves the whole process when a write fails."""

    def put_writes(self, *given: Any, **named: Any) -> None:
        try:
            super().put_writes(*given, **named)
        except sqlite3.Error:
            os._exit(7)


class PrunesThreadByThread(SqliteReference):
    """No flaw: each thread is pruned in a transaction of its own. It may fail between two."""

    failing = False

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        for n, thread in enumerate(thread_ids):
            if n and self.failing:
                raise RuntimeError("failed between two threads")
            super().prune([thread], strategy=strategy)


class PrunesTablesApart(PrunesThreadByThread):
    """Empties the tables of each thread in transactions of their own."""

    def _delete(self, thread: str) -> None:
        self.database.run("DELETE FROM writes WHERE thread = ?", thread)
        self.database.commit()
        self.database.begin()
        self.database.run("DELETE FROM checkpoints WHERE thread = ?", thread)


class PrunesOnceOnly(PrunesThreadByThread):
    """Takes a prune that failed for done."""

    done = False

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if not self.done:
            self.done = True
            super().prune(thread_ids, strategy=strategy)


class RaisesWhenWritesFail(SqliteReference):
    """No flaw: a batch that is not stored raises."""

    failing = False

    def put_writes(self, *given: Any, **named: Any) -> None:
        if self.failing:
            raise RuntimeError("not stored")
        super().put_writes(*given, **named)


class LosesWritesThatFail(RaisesWhenWritesFail):
    """Takes a batch that failed for stored."""

    def put_writes(self, *given: Any, **named: Any) -> None:
        with suppress(RuntimeError):
            super().put_writes(*given, **named)


SAVERS: dict[str, type[SqliteReference]] = {
    kind.__name__: kind
    for kind in (
        OnDisk,
        SerializedOnTheWay,
        RewrittenOnOpening,
        FailingTwice,
        RowsApart,
        UndoingExceptionsAlone,
        EndingTheProcess,
        PrunesThreadByThread,
        PrunesTablesApart,
        PrunesOnceOnly,
        RaisesWhenWritesFail,
        LosesWritesThatFail,
    )
}


@contextmanager
def _opened(name: str, path: Any) -> Iterator[Any]:
    with closing(SAVERS[name].at(path)) as made:
        made.setup()
        yield made


def saver_named(name: str, path: str) -> AbstractContextManager[Any]:
    """The saver of that name, on the store in a folder; scripts call it."""
    return _opened(name, Path(path))


def faulty(name: str, **options: Any) -> Target:
    """The target of that name."""
    text = f"from {__name__} import saver_named\nsaver_named({name!r}, path)"
    return Target(
        name=name, open=lambda workspace: _opened(name, workspace.path), opening=text, **options
    )
