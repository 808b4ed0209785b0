"""Savers that two callers at once break."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tests.reference.database import TABLES, Database
from tests.reference.saver import ReferenceSaver
from tests.reference.sqlite import PLACE, SqliteReference
from tests.reference.store import WriteRow
from tests.wrong_savers.registry import wrong

THREADS = "concurrency/threads-lose-nothing"
PROCESSES = "concurrency/processes-lose-nothing"
TORN = "concurrency/no-torn-reads"
ORDER = "concurrency/linearizable"
ITERATION = "concurrency/iteration-does-not-block"
NOTHING = "concurrency/reads-change-nothing"
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
class NoLock(SqliteReference):
    database_class = Unlocked


@wrong(THREADS, "checks whether a row is there, then inserts it, without a lock", also=BETWEEN)
class CheckThenInsert(SqliteReference):
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
class WritesReadAndWrittenBack(OneDocument):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        with self.database.reading():
            document = self._added(place, rows)
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
class OneCursorForAll(SqliteReference):
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


# -- no-torn-reads ------------------------------------------------------------------------


class RowByRow(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        yield

    def run(self, statement: str, *values: Any) -> None:
        with self.lock:
            super().run(statement, *values)

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        with self.lock:
            return super().rows(statement, *values)


@wrong(TORN, "the lock is taken for each row of a batch", also={ORDER})
class RowsSeenOneByOne(SqliteReference):
    database_class = RowByRow


class ReadingInSteps(Database):
    @contextmanager
    def reading(self) -> Iterator[None]:
        yield

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        with self.lock:
            return super().rows(statement, *values)


@wrong(TORN, "a checkpoint and its writes are read in two views of the store", also={ORDER})
class ReadInTwoSteps(SqliteReference):
    database_class = ReadingInSteps


# -- linearizable -------------------------------------------------------------------------


@wrong(
    ORDER, "the latest checkpoint is cached, and other instances are not asked", also={PROCESSES}
)
class CacheOfTheInstance(SqliteReference):
    def _cache(self) -> dict[Any, Any]:
        cache: dict[Any, Any] = self.__dict__.setdefault("cache", {})
        return cache

    def _find(self, config: Any) -> Any:
        key = (self._thread_of(config), self._get_ns(config))
        if self._asked_id(config) is not None:
            return super()._find(config)
        if self._cache().get(key) is None:
            self._cache()[key] = super()._find(config)
        return self._cache()[key]

    def put(self, *args: Any, **options: Any) -> Any:
        answer = super().put(*args, **options)
        self._cache().clear()
        return answer

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self._cache().clear()

    def delete_for_runs(self, run_ids: Any) -> None:
        super().delete_for_runs(run_ids)
        self._cache().clear()

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(source_thread_id, target_thread_id)
        self._cache().clear()

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        self._cache().clear()


class ReadingForEver(Database):
    """Keeps the view that its first read opened, on a connection for reads."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.reader = self.open()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with super().writing():
            yield
        if self.reader.in_transaction:
            self.reader.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            if not self.reader.in_transaction and not self.connection.in_transaction:
                self.reader.execute("BEGIN")
            yield

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        if self.connection.in_transaction:
            return super().rows(statement, *values)
        return self.reader.execute(statement, values).fetchall()

    def close(self) -> None:
        self.reader.close()
        super().close()


@wrong(
    ORDER, "a reader that begins a transaction and never ends it sees what was", also={PROCESSES}
)
class ReaderNeverEnds(SqliteReference):
    database_class = ReadingForEver


# -- iteration-does-not-block -------------------------------------------------------------


@wrong(ITERATION, "the lock is held across yield", hangs=True)
class ListHoldsTheLock(SqliteReference):
    def list(self, config: Any, **options: Any) -> Any:
        with self.database.lock:
            yield from super().list(config, **options)


@wrong(ITERATION, "rows are read one by one from an open transaction", hangs=True)
class ListHoldsATransaction(SqliteReference):
    def list(self, config: Any, **options: Any) -> Any:
        with self.database.reading():
            yield from super().list(config, **options)


@wrong(ITERATION, "the dict itself is iterated, and a put changes its size")
class ListIteratesTheDict(ReferenceSaver):
    def list(self, config: Any, **options: Any) -> Any:
        listed = super().list(config, **options)
        sizes = self._sizes()
        for found in listed:
            if self._sizes() != sizes:
                raise RuntimeError("dictionary changed size during iteration")
            yield found

    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(shelf.checkpoints) for shelf in self._all_shelves())


# -- reads-change-nothing -----------------------------------------------------------------


@wrong(NOTHING, "a read registers the thread that it asks for")
class ReadRegistersTheThread(SqliteReference):
    def get_tuple(self, config: Any) -> Any:
        found = super().get_tuple(config)
        if found is None:
            with self.database.writing():
                self.database.run("CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY)")
                thread = self._thread_of(config)
                self.database.run("INSERT OR IGNORE INTO threads VALUES (?)", thread)
        return found


@wrong(NOTHING, "every question is counted in the store")
class ReadIsCounted(SqliteReference):
    def get_tuple(self, config: Any) -> Any:
        with self.database.writing():
            self.database.run("CREATE TABLE IF NOT EXISTS questions (at INTEGER PRIMARY KEY)")
            self.database.run("INSERT INTO questions DEFAULT VALUES")
        return super().get_tuple(config)


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
