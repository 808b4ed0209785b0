"""Savers whose operations cost more and more as the store grows."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import repeat
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from tests.reference.database import TABLES, closing_file
from tests.reference.paged import PagedReference, Place, WithRuns
from tests.reference.pooled import PooledReference
from tests.reference.sqlite import CheckpointRows, SqliteReference
from tests.wrong_savers.concurrency import OneDocument
from tests.wrong_savers.registry import wrong

BY_ID = "cost/get-by-id"
LATEST = "cost/get-latest"
PUT = "cost/put"
WRITES = "cost/put-writes"
PAGE = "cost/page"
FILTER = "cost/filter"
DELTA = "cost/delta-history"
DELETE = "cost/delete"
PRUNE = "cost/prune"
COPY = "cost/copy"
BYTES = "cost/bytes-per-step"
SPACE = "cost/space-given-back"
CALLERS = "cost/callers-at-once"
READS = {LATEST, PAGE}
# The history of a delta channel is read by the ids of checkpoints, one after the other.
READS_BY_ID = {BY_ID, DELTA}
ALL = {*READS_BY_ID, LATEST, PUT, WRITES, PAGE, FILTER, DELETE, PRUNE, COPY}


# -- get-by-id ----------------------------------------------------------------------------


class WithoutIndex(WithRuns):
    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        for table in TABLES:
            name = table.split()[5]
            connection.execute(f"DROP TABLE {name}")
            connection.execute(table.partition(", PRIMARY KEY")[0] + ")")


@wrong(BY_ID, "tables without an index, as in langchain-ai/langgraphjs#2551", also=ALL)
class NoIndex(PagedReference):
    database_class = WithoutIndex

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        self._delete_row(row)
        self.database.run(
            "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(row.thread, row.ns, row.id, row.parent, *row.checkpoint, *row.metadata),
        )


@wrong(
    BY_ID,
    "an expression on the column, which no index serves: the engine scans the thread",
    also=READS_BY_ID,
)
class ScanInTheEngine(PagedReference):
    def _find(self, config: Any) -> CheckpointRow | None:
        asked = self._asked_id(config)
        if asked is None:
            return super()._find(config)
        place = (self._thread_of(config), self._get_ns(config))
        rows = self._rows("thread = ? AND ns = ? AND lower(id) = ?", *place, asked)
        return rows[0] if rows else None


@wrong(BY_ID, "the rows of the thread are gone through in Python", also=READS_BY_ID)
class ScanInPython(PagedReference):
    def _find(self, config: Any) -> CheckpointRow | None:
        asked = self._asked_id(config)
        if asked is None:
            return super()._find(config)
        place = (self._thread_of(config), self._get_ns(config))
        for id, _ in self.database.rows(
            "SELECT id, parent FROM checkpoints WHERE thread = ? AND ns = ?", *place
        ):
            if id == asked:
                return super()._find(config)
        return None


@wrong(BY_ID, "asks first whether the thread is among all that there are", also={DELTA, *READS})
class AllThreadsFirst(PagedReference):
    def get_tuple(self, config: Any) -> Any:
        known = self.database.rows("SELECT DISTINCT thread FROM checkpoints")
        return super().get_tuple(config) if (self._thread_of(config),) in known else None


# -- get-latest ---------------------------------------------------------------------------


@wrong(LATEST, "ordered by what no index is ordered by: the thread is sorted for one row")
class LatestBySorting(PagedReference):
    def _find(self, config: Any) -> CheckpointRow | None:
        if self._asked_id(config) is not None:
            return super()._find(config)
        place = (self._thread_of(config), self._get_ns(config))
        rows = self._rows("thread = ? AND ns = ? ORDER BY lower(id) DESC LIMIT 1", *place)
        return rows[0] if rows else None


@wrong(LATEST, "fetches all rows of the thread and takes the newest")
class LatestOfAll(PagedReference):
    def _find(self, config: Any) -> CheckpointRow | None:
        if self._asked_id(config) is not None:
            return super()._find(config)
        place = (self._thread_of(config), self._get_ns(config))
        rows = SqliteReference._rows(self, "thread = ? AND ns = ?", *place)
        return self._with_all_values([max(rows, key=lambda row: row.id)])[0] if rows else None


@wrong(LATEST, "a journal of all puts is read byte by byte, in C: many system calls of a byte each")
class ByteByByte(PagedReference):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        with self._journal(os.O_WRONLY | os.O_APPEND) as journal:
            os.write(journal, b".")
        super()._insert_checkpoint(row)

    def _find(self, config: Any) -> CheckpointRow | None:
        if self._asked_id(config) is None:
            with self._journal(os.O_RDONLY) as journal:
                places = self._read_of(os.fstat(journal).st_size)
                deque(map(os.pread, repeat(journal), repeat(1), places), maxlen=0)
        return super()._find(config)

    def _read_of(self, size: int) -> range:
        return range(size)

    def _journal(self, how: int) -> AbstractContextManager[int]:
        path = self.database.path.with_name("journal")
        return closing_file(os.open(path, how | os.O_CREAT, 0o600))


# -- put ----------------------------------------------------------------------------------


@wrong(PUT, "every channel is stored with each checkpoint, changed or not", also={FILTER, BYTES})
class UnchangedChannelsAgain(PagedReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, checkpoint, metadata)
        self._store(row, {}, {})
        return self._put_answer(config, row)


@wrong(PUT, "a query for each channel, to see whether its value is stored")
class QueryForEachChannel(PagedReference):
    def _store(self, row: CheckpointRow, blobs: Any, versions: Any) -> None:
        for channel, version in versions.items():
            self.database.rows(
                "SELECT 1 FROM blobs WHERE thread = ? AND ns = ? AND channel = ? AND version = ?",
                *(row.thread, row.ns, channel, version),
            )
        super()._store(row, blobs, versions)


@wrong(PUT, "counts the checkpoints of the thread to number the next")
class CountsBeforePutting(PagedReference):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        self.database.rows("SELECT count(*) FROM checkpoints WHERE thread = ?", row.thread)
        super()._insert_checkpoint(row)


@wrong(PUT, "each checkpoint lists all of its ancestors", also={BY_ID, SPACE, *READS})
class AncestorsInEachRow(PagedReference):
    def _row_of(self, config: Any, checkpoint: Any, metadata: Any) -> CheckpointRow:
        parent = self._parent_of(config)
        before: list[str] = []
        if parent is not None:
            (row,) = SqliteReference._rows(
                self, "thread = ? AND id = ?", self._thread_of(config), parent
            )
            before = self._load_metadata(row.metadata).get("ancestors", [])
        known = {**metadata, "ancestors": [*before, checkpoint["id"]]}
        return super()._row_of(config, checkpoint, known)


@wrong(PUT, "the whole thread is one row, read and written back", also=ALL)
class ThreadInOneRow(PagedReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        self._rewrite(self._thread_of(config))
        return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(self, config: Any, *args: Any, **options: Any) -> None:
        self._rewrite(self._thread_of(config))
        super().put_writes(config, *args, **options)

    def get_tuple(self, config: Any) -> Any:
        self._read(self._thread_of(config))
        return super().get_tuple(config)

    def list(self, config: Any, **options: Any) -> Any:
        self._read(self._thread_of(config))
        return super().list(config, **options)

    def _read(self, thread: str) -> bytes:
        rows = self.database.rows(
            "SELECT hex(checkpoint) FROM checkpoints WHERE thread = ?", thread
        )
        return json.dumps(rows).encode()

    def _rewrite(self, thread: str) -> None:
        whole = self._read(thread)
        with self.database.writing():
            self.database.run("CREATE TABLE IF NOT EXISTS whole (thread PRIMARY KEY, state BLOB)")
            self.database.run("INSERT OR REPLACE INTO whole VALUES (?, ?)", thread, whole)

    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        self.database.run("DELETE FROM whole WHERE thread = ?", thread)


# -- put-writes ---------------------------------------------------------------------------


@wrong(WRITES, "the writes of a checkpoint are one document: read, added to, written back")
class WritesAreOneDocument(PagedReference, OneDocument):
    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        self._write_back(place, self._added(place, rows))


# -- page ---------------------------------------------------------------------------------


@wrong(
    PAGE,
    "a query for the writes of each checkpoint: langchain-ai/langgraph#7263, "
    "langchain-ai/langgraph#7204",
)
class QueryForEachCheckpoint(PagedReference):
    def _writes_of(
        self, place: Place, rows: CheckpointRows
    ) -> defaultdict[str, Sequence[WriteRow]]:
        return defaultdict(list, {row.id: self._stored_writes(row) for row in rows})


@wrong(PAGE, "everything is fetched, and the limit applied last")
class LimitAppliedLast(PagedReference):
    def _page_of(self, place: Place, bound: str, limit: int | None) -> CheckpointRows:
        return super()._page_of(place, bound, None)[:limit]


# -- filter -------------------------------------------------------------------------------


@wrong(FILTER, "whole rows are read to filter them, as in langchain-ai/deepagents#4005")
class ValuesReadToFilter(PagedReference):
    def _fitting(
        self, place: Place, bound: str, limit: int | None, filter: dict[str, Any]
    ) -> CheckpointRows:
        rows = [row for row in self._page_of(place, bound, None) if self._fits(row, filter)]
        return rows[:limit]

    def _fits(self, row: CheckpointRow, filter: dict[str, Any]) -> bool:
        return self._matches(self._load_metadata(row.metadata), filter)


@wrong(FILTER, "the filter is applied to the store, and the thread then", also={PAGE})
class ThreadAppliedLast(PagedReference):
    def list(self, config: Any, **options: Any) -> Any:
        self.database.rows("SELECT id FROM checkpoints WHERE metadata IS NOT NULL")
        return super().list(config, **options)


# -- delta-history ------------------------------------------------------------------------


@wrong(DELTA, "pages from the newest checkpoint down to the old one: langchain-ai/langgraph#8448")
class PagesFromTheNewest(PagedReference):
    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        asked = config["configurable"]["checkpoint_id"]
        with self.database.reading():
            self.database.rows(
                "SELECT id FROM checkpoints WHERE thread = ? AND ns = ? AND id >= ?",
                *(self._thread_of(config), self._get_ns(config), asked),
            )
        return super().get_delta_channel_history(config=config, channels=channels)


@wrong(DELTA, "the writes of the whole thread are read, as in langchain-ai/langgraph#8535")
class WritesSinceTheFirst(PagedReference):
    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        asked = config["configurable"]["checkpoint_id"]
        with self.database.reading():
            self.database.rows(
                "SELECT id, channel, value FROM writes WHERE thread = ? AND id < ?",
                *(self._thread_of(config), asked),
            )
        return super().get_delta_channel_history(config=config, channels=channels)


# -- delete, prune and copy ---------------------------------------------------------------


@wrong(DELETE, "runs are looked for in the metadata of the whole store")
class RunsWithoutIndex(PagedReference):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._selected_runs(run_ids)
        super().delete_for_runs(run_ids)

    def _selected_runs(self, run_ids: Sequence[str]) -> list[str]:
        rows = SqliteReference._rows(self)
        return [row.id for row in rows if self._load_metadata(row.metadata) in run_ids]


@wrong(DELETE, "what belongs to the thread is looked for behind an index of ids alone")
class DeletedByScan(PagedReference):
    def _delete(self, thread: str) -> None:
        super()._delete(thread)
        self.database.run("DELETE FROM writes WHERE lower(thread) = ?", thread.lower())


@wrong(PRUNE, "what nobody needs is looked for in the whole store", also={DELETE})
class PruneLooksEverywhere(PagedReference):
    def _drop_unused(self, thread: str) -> None:
        super()._drop_unused(thread)
        self.database.run("DELETE FROM blobs WHERE thread NOT IN (SELECT thread FROM checkpoints)")


@wrong(COPY, "all threads are read to see that the new one is free")
class CopyReadsAllThreads(PagedReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        known = self.database.rows("SELECT DISTINCT thread FROM checkpoints")
        assert (target_thread_id,) not in known
        super().copy_thread(source_thread_id, target_thread_id)


# -- what is kept -------------------------------------------------------------------------


@wrong(BYTES, "the state of each step is kept in its metadata as well", also={PUT, FILTER})
class StateKeptBesides(PagedReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        told = {**metadata, "state": repr(checkpoint["channel_values"])}
        return super().put(config, checkpoint, told, new_versions)


@wrong(SPACE, "the values stay after prune: redis-developer/langgraph-redis#162")
class ValuesStayAfterPrune(PagedReference):
    def _keep_latest(self, thread: str) -> None:
        SqliteReference._keep_latest(self, thread)


@wrong(SPACE, "the values stay when a run is deleted")
class ValuesStayAfterRuns(PagedReference):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.database.writing():
            for run in run_ids:
                found = self.database.rows("SELECT thread, ns, id FROM runs WHERE run = ?", run)
                for thread, ns, id in found:
                    self._delete_row(CheckpointRow(thread, ns, id, None, ("", b""), ("", b""), {}))
                self.database.run("DELETE FROM runs WHERE run = ?", run)


class LogGrows(WithRuns):
    """A database whose write-ahead log is folded into its file when it is closed, and only then."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute("PRAGMA wal_autocheckpoint=0")


@wrong(SPACE, "SQLite's write-ahead log is not folded into the file while the saver is open")
class LogNeverFolded(PagedReference):
    database_class = LogGrows


@wrong(
    SPACE,
    "deleted threads stay in memory: langchain-ai/langgraph#8054",
    also={PAGE, DELETE, PRUNE, COPY},
)
class DeletedThreadsStayInMemory(ReferenceSaver):
    def _delete_shelf(self, shelf: Any) -> None:
        super()._delete_shelf(shelf)
        self.store.extra.setdefault("deleted", []).append(shelf)


# -- callers ------------------------------------------------------------------------------


@wrong(CALLERS, "one lock over a pool of connections: langchain-ai/langgraph#7259")
class OneLockOverThePool(PooledReference):
    def get_tuple(self, config: Any) -> Any:
        with self.database.lock:
            return super().get_tuple(config)
