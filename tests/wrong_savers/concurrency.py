"""Savers that two writers at once break."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from tests.reference.database import TABLES, Database
from tests.reference.sqlite import PLACE, SqliteReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import wrong

THREADS = "concurrency/threads-lose-nothing"
PROCESSES = "concurrency/processes-lose-nothing"
TORN = "concurrency/no-torn-reads"
ORDER = "concurrency/linearizable"
FIRST = "concurrency/first-use-race"
Place = tuple[str, str, str]


# -- threads-lose-nothing -----------------------------------------------------------------

# What threads break on one connection is broken for readers as well.
BETWEEN = {TORN, ORDER}


class Unlocked(Database):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lock = nullcontext()  # type: ignore[assignment]


@wrong(THREADS, "one connection and no lock: two transactions in one", also=BETWEEN)
class NoLock(InThreads, SqliteReference):
    database_class = Unlocked


@wrong(THREADS, "checks whether a row is there, then inserts it, without a lock", also=BETWEEN)
class CheckThenInsert(InThreads, SqliteReference):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        with self.database.reading():
            taken = {
                position
                for (position,) in self.database.rows(
                    f"SELECT position FROM writes WHERE {PLACE} AND task = ?", *place, task_id
                )
            }
        with self.database.writing():
            for row in rows:
                if row.index < 0 or row.index not in taken:
                    self._insert_new(place, row)

    def _insert_new(self, place: Place, row: WriteRow) -> None:
        verb = "REPLACE" if row.index < 0 else "INSERT"
        values = (row.task_id, row.index, row.channel, *row.value, row.path)
        marks = ", ".join("?" * 9)
        self.database.run(f"{verb} INTO writes VALUES ({marks})", *place, *values)


@wrong(THREADS, "keeps a call's config on the saver, where the next call finds it", also={ORDER})
class ConfigKeptOnTheSaver(InThreads, SqliteReference):
    def put(self, config: Any, *arguments: Any) -> Any:
        self.config = config
        return super().put(config, *arguments)

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        super()._insert_checkpoint(replace(row, parent=self._parent_of(self.config)))


class OneDocument(SqliteReference):
    """Reads a checkpoint's writes, adds to them, and writes all of them back."""

    def _added(self, place: Place, rows: Sequence[WriteRow]) -> list[WriteRow]:
        found = self.database.rows(
            f"SELECT task, position, channel, type, value, path FROM writes WHERE {PLACE}", *place
        )
        stored = {(t, p): WriteRow(t, p, c, (k, v), path) for t, p, c, k, v, path in found}
        for row in rows:
            key = self._write_key(row)
            if row.index < 0 or key not in stored:
                stored[key] = row  # type: ignore[index]
        return list(stored.values())

    def _write_back(self, place: Place, rows: Sequence[WriteRow]) -> None:
        self.database.run(f"DELETE FROM writes WHERE {PLACE}", *place)
        super()._insert_writes(place, rows)


@wrong(
    THREADS, "the writes are one document: read, added to, written back", also={*BETWEEN, PROCESSES}
)
class WritesReadAndWrittenBack(InThreads, OneDocument):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        with self.database.reading():
            document = self._added(place, rows)
        # As long as the way to a store on another machine, so that it does not hang on luck whether
        # another thread comes between.
        time.sleep(0.002)
        with self.database.writing():
            self._write_back(place, document)


class SharingACursor(Database):
    def connect(self) -> sqlite3.Connection:
        connection = super().connect()
        self.cursor = connection.cursor()
        return connection

    @contextmanager
    def reading(self) -> Iterator[None]:
        yield

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        self.cursor.execute(statement, values)
        return self.cursor.fetchall()


@wrong(THREADS, "all threads read through one cursor", also=BETWEEN)
class OneCursorForAll(InThreads, SqliteReference):
    database_class = SharingACursor


# -- processes-lose-nothing ---------------------------------------------------------------


@wrong(PROCESSES, "a lock of the process guards what other processes change too", also=BETWEEN)
class LockOfOneProcess(OneDocument):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        with self.database.lock:
            with self.database.reading():
                document = self._added(place, rows)
            with self.database.writing():
                self._write_back(place, document)


class Impatient(Database):
    busy_timeout_s = 0.0


@wrong(PROCESSES, "a locked database is logged, and the operation returns", also={*BETWEEN, FIRST})
class BusyIsSwallowed(SqliteReference):
    database_class = Impatient

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        try:
            return super().put(config, checkpoint, metadata, new_versions)
        except sqlite3.OperationalError:
            ns = self._put_ns(config)
            return self._address(self._thread_of(config), ns, checkpoint["id"])

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        try:
            super().put_writes(config, writes, task_id, task_path)
        except sqlite3.OperationalError:
            return


# -- first-use-race -----------------------------------------------------------------------


class Ungated(Database):
    """Opens without the gate that lets one process in at a time."""

    busy_timeout_s = 0.0

    def connect(self) -> sqlite3.Connection:
        connection = self.open()
        self.configure(connection)
        return connection


@wrong(FIRST, "no busy timeout: whoever comes second finds the store locked", also={PROCESSES})
class NoBusyTimeout(SqliteReference):
    database_class = Ungated


class CheckingForTables(Ungated):
    busy_timeout_s = 10.0

    def configure(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA journal_mode={self.journal_mode}").fetchone()
        names = connection.execute("SELECT name FROM sqlite_master").fetchall()
        if not names:
            for table in TABLES:
                connection.execute(table.replace("IF NOT EXISTS ", ""))


@wrong(FIRST, "looks for the tables, then makes them without IF NOT EXISTS")
class TablesCheckedThenMade(SqliteReference):
    database_class = CheckingForTables
