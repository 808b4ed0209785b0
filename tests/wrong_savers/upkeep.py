"""Savers that someone breaks who tidies up while runs go on."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf
from tests.reference.blobs import BlobReference
from tests.reference.database import Database
from tests.reference.sqlite import PLACE, SqliteReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import wrong

THREADS = "concurrency/threads-lose-nothing"
TORN = "concurrency/no-torn-reads"
PRUNE = "concurrency/prune-spares-live-runs"
COPY = "concurrency/copy-of-one-moment"
DELETION = "concurrency/deletion-is-whole"
LATE = "concurrency/late-writer"

NEWEST = "SELECT max(id) FROM checkpoints WHERE thread = ? AND ns = ''"
WITHOUT_THREAD = {
    "checkpoints": "ns, id, parent, type, checkpoint, metadata_type, metadata",
    "writes": "ns, id, task, position, channel, type, value, path",
}
"""The columns of each table after that of the thread."""
WAY_TO_THE_STORE_S = 0.004
"""As long as the way to a store on another machine: it does not hang on luck whether another call
comes between two parts of a copy.
"""


# -- prune-spares-live-runs ---------------------------------------------------------------


class TidyingInTwoSteps(InThreads, SqliteReference):
    """Finds the newest of a thread's one namespace, and deletes the others in another step."""

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy != "keep_latest":
            super().prune(thread_ids, strategy=strategy)
            return
        for thread in thread_ids:
            with self.database.reading():
                ((newest,),) = self.database.rows(NEWEST, thread)
                whole = self.database.rows(
                    "SELECT 1 FROM checkpoints WHERE thread = ? AND ns <> '' LIMIT 1", thread
                )
            if newest is None or whole or self._has_delta_channels(thread):
                super().prune([thread], strategy=strategy)
                continue
            with self.database.writing():
                self._delete_others(thread, newest)

    def _has_delta_channels(self, thread: str) -> bool:
        with self.database.reading():
            rows = {row.id: row for row in self._rows("thread = ? AND ns = ''", thread)}
            return any(self._delta_chain(rows, row) for row in rows.values())

    def _delete_others(self, thread: str, newest: str) -> None:
        raise NotImplementedError


@wrong(PRUNE, "the newest id is read, then all others are deleted: one put between is lost")
class PruneOfAllButTheNewestItRead(TidyingInTwoSteps):
    def _delete_others(self, thread: str, newest: str) -> None:
        self.database.run("DELETE FROM checkpoints WHERE thread = ? AND id <> ?", thread, newest)
        self.database.run("DELETE FROM writes WHERE thread = ? AND id < ?", thread, newest)


@wrong(PRUNE, "writes go by what is kept: those that come before their checkpoint are lost")
class PruneOfEarlyWrites(InThreads, SqliteReference):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        super().prune(thread_ids, strategy=strategy)
        if strategy != "keep_latest":
            return
        with self.database.writing():
            for thread in thread_ids:
                self.database.run(
                    "DELETE FROM writes WHERE thread = ? AND NOT EXISTS (SELECT 1 FROM "
                    "checkpoints AS c WHERE c.thread = writes.thread AND c.ns = writes.ns AND "
                    "c.id = writes.id)",
                    thread,
                )


# -- copy-of-one-moment -------------------------------------------------------------------


@wrong(COPY, "checkpoints are copied, then writes: what is put between is there by half")
class CopyTableByTable(InThreads, SqliteReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id == target_thread_id:
            return
        with self.database.writing():
            self._copy_writes(source_thread_id, target_thread_id)
        time.sleep(WAY_TO_THE_STORE_S)
        with self.database.writing():
            self._copy_checkpoints(source_thread_id, target_thread_id)


@wrong(COPY, "rows are read a page at a time, the newest first, while others are put")
class CopyRowByRow(InThreads, SqliteReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id == target_thread_id:
            return
        with self.database.reading():
            spaces = self.database.rows(
                "SELECT DISTINCT ns FROM checkpoints WHERE thread = ? ORDER BY ns",
                source_thread_id,
            )
        for (ns,) in spaces:
            with self.database.writing():
                for table in ("checkpoints", "writes"):
                    self.database.run(
                        f"CREATE TEMP TABLE page AS SELECT * FROM {table} "
                        "WHERE thread = ? AND ns = ?",
                        *(source_thread_id, ns),
                    )
                    self.database.run("UPDATE page SET thread = ?", target_thread_id)
                    self.database.run(f"INSERT OR REPLACE INTO {table} SELECT * FROM page")
                    self.database.run("DROP TABLE page")
            time.sleep(WAY_TO_THE_STORE_S)


@wrong(COPY, "checkpoints are read, then their writes: what is deleted between is copied by half")
class CopyOfTwoReads(InThreads, SqliteReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id == target_thread_id:
            return
        checkpoints = self._rows_of("checkpoints", source_thread_id)
        writes = self._rows_of("writes", source_thread_id)
        with self.database.writing():
            for table, row in [*checkpoints, *writes]:
                places = ", ".join("?" * (1 + len(row)))
                statement = f"INSERT OR REPLACE INTO {table} VALUES ({places})"
                self.database.run(statement, target_thread_id, *row)

    def _rows_of(self, table: str, thread: str) -> list[tuple[str, Any]]:
        select = f"SELECT {WITHOUT_THREAD[table]} FROM {table} WHERE thread = ?"
        with self.database.reading():
            return [(table, row) for row in self.database.rows(select, thread)]


# -- deletion-is-whole --------------------------------------------------------------------


@wrong(DELETION, "a thread that is all of the runs goes by its id, once that has been looked up")
class RunsDeletedByThread(InThreads, SqliteReference):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.database.reading():
            rows = self._rows()
            theirs = [self._load_metadata(row.metadata).get("run_id") in run_ids for row in rows]
        others = {row.thread for row, one in zip(rows, theirs, strict=True) if not one}
        found = [row for row, one in zip(rows, theirs, strict=True) if one]
        for thread in {row.thread for row in found} - others:
            with self.database.writing():
                self._delete(thread)
        for row in found:
            with self.database.writing():
                self._delete_row(row)


# -- what hangs ---------------------------------------------------------------------------


class LocksInTwoOrders(Database):
    """Has a lock for what is looked up beside that of the connection."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.index = threading.RLock()


@wrong(THREADS, "a put takes two locks in one order, a prune in the other", hangs=True)
class PruneTakesLocksInAnotherOrder(InThreads, SqliteReference):
    database_class = LocksInTwoOrders

    def put(self, *arguments: Any) -> Any:
        with self.database.lock, self._slowly(), self.database.index:  # type: ignore[attr-defined]
            return super().put(*arguments)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        with self.database.index, self._slowly(), self.database.lock:  # type: ignore[attr-defined]
            super().prune(thread_ids, strategy=strategy)

    @contextmanager
    def _slowly(self) -> Iterator[None]:
        # Something is looked up between: it does not hang on luck that both are there.
        time.sleep(0.001)
        yield


class LockForEachThread(Database):
    """Has a lock for each thread beside that of the connection."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.threads: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)


@wrong(THREADS, "a copy locks the two threads in the order in which they are named", hangs=True)
class CopyLocksThreadsAsTheyAreNamed(InThreads, SqliteReference):
    database_class = LockForEachThread

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        threads = self.database.threads  # type: ignore[attr-defined]
        with threads[source_thread_id]:
            # As long as it takes to look up whether the source is there.
            time.sleep(0.001)
            with threads[target_thread_id]:
                super().copy_thread(source_thread_id, target_thread_id)


@wrong(DELETION, "a put stores its parent again, which it read before, if that is gone")
class ParentStoredAgain(InThreads, SqliteReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, checkpoint, metadata)
        with self.database.reading():
            parents = self._rows(PLACE, row.thread, row.ns, row.parent)
        answer = super().put(config, checkpoint, metadata, new_versions)
        with self.database.writing():
            for parent in parents:
                if not self._rows(PLACE, row.thread, row.ns, row.parent):
                    self._insert_checkpoint(parent)
        return answer


# -- late-writer --------------------------------------------------------------------------


@wrong(LATE, "checkpoints are deleted in one transaction, their writes in another")
class DeletionInTwoTransactions(InThreads, SqliteReference):
    def delete_thread(self, thread_id: str) -> None:
        for table in ("checkpoints", "writes"):
            with self.database.writing():
                self.database.run(f"DELETE FROM {table} WHERE thread = ?", thread_id)


@wrong(LATE, "a put looks up in one transaction which values are there, and stores in another")
class StoredValuesLookedUpFirst(InThreads, BlobReference):
    def _store(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        with self.database.reading():
            missing = {
                channel: blob
                for channel, blob in blobs.items()
                if not self._blobs(row, channel, versions[channel])
            }
        super()._store(row, missing, versions)


@wrong(LATE, "a value that the put does not call new is found by its version, or not at all")
class ValuesFoundByVersionAlone(ReferenceSaver):
    def _values_to_store(
        self, shelf: Shelf, row: CheckpointRow, checkpoint: Any, new_versions: Any
    ) -> dict[Hashable, Blob | None]:
        stored = super()._values_to_store(shelf, row, checkpoint, new_versions)
        new = {self._value_key(row, name, row.versions[name]) for name in new_versions}
        return {key: blob for key, blob in stored.items() if key in new}
