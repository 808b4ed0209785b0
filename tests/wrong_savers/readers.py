"""Savers whose readers see halves, see what was, or stand in the way."""

from __future__ import annotations

import copy
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from tests.reference.database import Database, closing_file
from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import wrong

THREADS = "concurrency/threads-lose-nothing"
PROCESSES = "concurrency/processes-lose-nothing"
TORN = "concurrency/no-torn-reads"
INSTANCES = "concurrency/instances-agree"
ORDER = "concurrency/linearizable"
ITERATION = "concurrency/iteration-does-not-block"
NOTHING = "concurrency/reads-change-nothing"


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
class RowsSeenOneByOne(InThreads, SqliteReference):
    database_class = RowByRow


class ReadingInSteps(Database):
    @contextmanager
    def reading(self) -> Iterator[None]:
        yield

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        with self.lock:
            return super().rows(statement, *values)


@wrong(TORN, "a checkpoint and its writes are read in two views of the store", also={ORDER})
class ReadInTwoSteps(InThreads, SqliteReference):
    database_class = ReadingInSteps


class ReadingUnderItsLock(Database):
    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            yield


@wrong(TORN, "a lock of the instance keeps the statements of a read together, and no transaction")
class ReadUnderItsOwnLock(SqliteReference):
    database_class = ReadingUnderItsLock


_OF_THE_MODULE = threading.RLock()


@wrong(TORN, "a file is read twice under a lock of the module, and written by processes")
class FileReadTwice(StateFileReference):
    @contextmanager
    def turn(self) -> Iterator[None]:
        with _OF_THE_MODULE, super().turn():
            yield

    def get_tuple(self, config: Any) -> Any:
        with _OF_THE_MODULE:
            self.catch_up()
            found = ReferenceSaver.get_tuple(self, config)
            if found is None:
                return None
            self.catch_up()
            again = ReferenceSaver.get_tuple(self, found.config)
            return found._replace(pending_writes=again.pending_writes if again else [])


class Leasing(ReadingUnderItsLock):
    """Readers keep writers out by a file, as long as they renew it."""

    lease_s = 0.5
    renewed_each_s = 0.05

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock, self.turn():
            while any(map(self._is_fresh, self.path.parent.glob("read-by-*"))):
                time.sleep(0.01)
            with super().writing():
                yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        with super().reading(), self.leased():
            yield

    @contextmanager
    def turn(self) -> Iterator[None]:
        with closing_file(os.open(f"{self.path}.turn", os.O_RDWR | os.O_CREAT, 0o600)) as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            yield

    @contextmanager
    def leased(self) -> Iterator[None]:
        lease, over = self.path.with_name(f"read-by-{os.getpid()}-{id(self)}"), threading.Event()
        with self.turn():  # nobody writes now
            lease.touch()
        renewing = threading.Thread(target=self.renew, args=(lease, over), daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()
            lease.unlink(missing_ok=True)

    def renew(self, lease: Path, over: threading.Event) -> None:
        while not over.wait(self.renewed_each_s):
            lease.touch()

    def _is_fresh(self, lease: Path) -> bool:
        with suppress(FileNotFoundError):
            return time.time() - lease.stat().st_mtime < self.lease_s
        return False


@wrong(TORN, "a lock that is kept for a time, and nobody looks whether it was kept for that long")
class LeaseNotLookedAt(SqliteReference):
    database_class = Leasing


# -- instances-agree ----------------------------------------------------------------------


@wrong(
    INSTANCES,
    "the latest checkpoint is cached, and other instances are not asked",
    also={PROCESSES},
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
        with self.lock:
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
    INSTANCES,
    "a reader that begins a transaction and never ends it sees what was",
    also={PROCESSES},
)
class ReaderNeverEnds(SqliteReference):
    database_class = ReadingForEver


# -- linearizable -------------------------------------------------------------------------


@wrong(
    ORDER,
    "the cache is cleared before the write, and a read meanwhile fills it with what was",
    also={THREADS},
)
class ClearedTooEarly(SqliteReference):
    way_to_the_store_s = 0.002
    """So that it does not hang on luck whether a read comes between."""

    def _cache(self) -> dict[Any, Any]:
        cache: dict[Any, Any] = self.__dict__.setdefault("cache", {})
        # It counts the changes that other connections made.
        ((version,),) = self.database.rows("PRAGMA data_version")
        if cache.get("version") != version:
            cache.clear()
        cache["version"] = version
        return cache

    def _find(self, config: Any) -> Any:
        if self._asked_id(config) is not None:
            return super()._find(config)
        key = (self._thread_of(config), self._get_ns(config))
        cache = self._cache()
        try:
            return cache[key]
        except KeyError:
            # Not read from it again: another thread may clear it in between.
            found = cache[key] = super()._find(config)
            return found

    def put(self, *args: Any, **options: Any) -> Any:
        self._cache().clear()
        time.sleep(self.way_to_the_store_s)
        return super().put(*args, **options)

    def delete_thread(self, thread_id: str) -> None:
        self._cache().clear()
        super().delete_thread(thread_id)

    def delete_for_runs(self, run_ids: Any) -> None:
        self._cache().clear()
        super().delete_for_runs(run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._cache().clear()
        super().copy_thread(source_thread_id, target_thread_id)

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        self._cache().clear()
        super().prune(thread_ids, strategy=strategy)


@wrong(THREADS, "a read that is slow puts what it read into the cache when that has been cleared")
class FilledLate(InThreads, ClearedTooEarly):
    def _find(self, config: Any) -> Any:
        return SqliteReference._find(self, config)

    def get_tuple(self, config: Any) -> Any:
        if self._asked_id(config) is not None:
            return super().get_tuple(config)
        key = (self._thread_of(config), self._get_ns(config))
        cache = self._cache()
        if key in cache:
            return copy.deepcopy(cache[key])
        found = super().get_tuple(config)
        cache[key] = copy.deepcopy(found)
        return found

    def put_writes(self, *args: Any, **options: Any) -> None:
        self._then_cleared(SqliteReference.put_writes, *args, **options)

    def put(self, *args: Any, **options: Any) -> Any:
        return self._then_cleared(SqliteReference.put, *args, **options)

    def delete_thread(self, thread_id: str) -> None:
        self._then_cleared(SqliteReference.delete_thread, thread_id)

    def delete_for_runs(self, run_ids: Any) -> None:
        self._then_cleared(SqliteReference.delete_for_runs, run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._then_cleared(SqliteReference.copy_thread, source_thread_id, target_thread_id)

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        self._then_cleared(SqliteReference.prune, thread_ids, strategy=strategy)

    def _then_cleared(self, change: Callable[..., Any], *args: Any, **options: Any) -> Any:
        try:
            return change(self, *args, **options)
        finally:
            cache = self._cache()
            for key in {*cache} - {"version"}:
                cache.pop(key, None)


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


@wrong(
    ITERATION,
    "each two items are a page of their own, counted from the newest: OFFSET",
    # A listing that other threads shift is found wrong there as well.
    also={"concurrency/threads-lose-nothing"},
)
class ListCountsFromTheNewest(SqliteReference):
    def list(self, config: Any, *, limit: int | None = None, **options: Any) -> Any:
        for begun in count(0, 2):
            page = [*super().list(config, **options)][begun : begun + 2]
            yield from page if limit is None else page[: max(limit - begun, 0)]
            if len(page) < 2:
                return


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
