"""Savers that end their transactions wrongly."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from tests.reference.database import Database
from tests.reference.sqlite import PLACE, SqliteReference
from tests.wrong_savers.registry import wrong

WHOLE = "atomicity/all-or-nothing"
LATE = "atomicity/no-late-commit"
USABLE = "atomicity/usable-after"
SILENT = "atomicity/no-silent-loss"
CANCELLED = "atomicity/cancelled"
PREVIOUS = "atomicity/previous-intact"
KILLED = "durability/in-flight-atomic"
Place = tuple[str, str, str]


# -- all-or-nothing -----------------------------------------------------------------------


class CommittingInFinally(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            self.begin()
            try:
                yield
            finally:
                self.commit()


# A COMMIT that fails leaves the transaction open.
OPEN = {USABLE, LATE, PREVIOUS}


@wrong(WHOLE, "try: ... finally: commit() stores what the exception left", also={*OPEN, CANCELLED})
class CommitInFinally(SqliteReference):
    database_class = CommittingInFinally


class Autocommitting(Database):
    def begin(self) -> None:
        return

    def commit(self) -> None:
        return


@wrong(WHOLE, "autocommit: every row is a transaction", also={KILLED, PREVIOUS})
class AutocommitPerRow(SqliteReference):
    database_class = Autocommitting


@wrong(WHOLE, "two DELETEs, each committed", also={KILLED})
class DeleteInTwoTransactions(SqliteReference):
    def _delete(self, thread: str) -> None:
        self.database.run("DELETE FROM checkpoints WHERE thread = ?", thread)
        self.database.commit()
        self.database.begin()
        self.database.run("DELETE FROM writes WHERE thread = ?", thread)


@wrong(WHOLE, "prune empties the two tables one after the other, each by itself")
class PruneInTwoTransactions(DeleteInTwoTransactions):
    def delete_thread(self, thread_id: str) -> None:
        with self.database.writing():
            SqliteReference._delete(self, thread_id)


@wrong(WHOLE, "ten rows at a time, each ten committed", also={KILLED})
class BatchInChunks(SqliteReference):
    def _insert_writes(self, place: Place, rows: Sequence[WriteRow]) -> None:
        for start in range(0, len(rows), 10):
            if start:
                self.database.commit()
                self.database.begin()
            super()._insert_writes(place, rows[start : start + 10])


@wrong(WHOLE, "metadata is added in a transaction of its own", also={KILLED})
class MetadataInItsOwnTransaction(SqliteReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        super().put(config, checkpoint, {}, new_versions)
        return super().put(config, checkpoint, metadata, new_versions)


@wrong(WHOLE, "a thread is copied table by table, each committed", also={KILLED})
class CopyInTwoTransactions(SqliteReference):
    def _copy_writes(self, source: str, target: str) -> None:
        self.database.commit()
        self.database.begin()
        super()._copy_writes(source, target)


@wrong(WHOLE, "special writes are a batch of their own", also={KILLED})
class SpecialWritesApart(SqliteReference):
    def _insert_writes(self, place: Place, rows: Sequence[WriteRow]) -> None:
        super()._insert_writes(place, [row for row in rows if row.index < 0])
        self.database.commit()
        self.database.begin()
        super()._insert_writes(place, [row for row in rows if row.index >= 0])


# -- no-late-commit -----------------------------------------------------------------------


class NeverRollingBack(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            if not self.connection.in_transaction:
                self.begin()
            yield
            self.commit()


@wrong(LATE, "no rollback: the next operation commits the failed one's rows", also={USABLE, WHOLE})
class NoRollback(SqliteReference):
    database_class = NeverRollingBack


class CommitOutsideTheTry(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            if not self.connection.in_transaction:
                self.begin()
            try:
                yield
            except BaseException:
                self.roll_back()
                raise
            self.commit()


@wrong(LATE, "a COMMIT that fails is not rolled back", also={USABLE, WHOLE})
class FailedCommitStaysOpen(SqliteReference):
    database_class = CommitOutsideTheTry


@wrong(LATE, "a buffer of rows is cleared only after they were written")
class FailedRowsStayBuffered(SqliteReference):
    def _insert_writes(self, place: Place, rows: Sequence[WriteRow]) -> None:
        buffer = self.__dict__.setdefault("buffer", [])
        buffer.append((place, list(rows)))
        for buffered_place, buffered_rows in buffer:
            super()._insert_writes(buffered_place, buffered_rows)
        buffer.clear()


# -- no-silent-loss -----------------------------------------------------------------------


class Swallowing(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with super().writing():
                yield
        except sqlite3.Error:
            return


@wrong(SILENT, "except sqlite3.Error: log it, and return")
class ErrorSwallowed(SqliteReference):
    database_class = Swallowing


class SwallowingCommitErrors(Database):
    def commit(self) -> None:
        try:
            super().commit()
        except sqlite3.Error:
            self.roll_back()


@wrong(SILENT, "contextlib.suppress around commit()")
class CommitErrorSwallowed(SqliteReference):
    database_class = SwallowingCommitErrors


@wrong(SILENT, "writes are taken for a cache: losing them is no error")
class WritesErrorSwallowed(SqliteReference):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        try:
            super().put_writes(config, writes, task_id, task_path)
        except sqlite3.Error:
            return


class FullIsNoError(Database):
    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with super().writing():
                yield
        except sqlite3.Error as error:
            if "full" not in str(error):
                raise


@wrong(SILENT, "a database that is full is logged, and nothing raised")
class FullErrorSwallowed(SqliteReference):
    database_class = FullIsNoError


class CommittingLater(Database):
    """Ends a transaction when the next one begins, or when a close comes first."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            if self.connection.in_transaction:
                self.commit()
            try:
                self.begin()
                yield
            except BaseException:
                self.roll_back()
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            yield

    def close(self) -> None:
        try:
            if self.connection.in_transaction:
                self.commit()
        except sqlite3.ProgrammingError:
            return
        super().close()


@wrong(
    SILENT,
    "the commit comes with the next call",
    also={WHOLE, USABLE, LATE, "durability/acknowledged-survives"},
)
class CommitAtTheNextCall(SqliteReference):
    database_class = CommittingLater


class CountingDepth(Database):
    """Commits where the outermost of nested transactions ends."""

    depth = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            self.reconnect_if_lost()
            if not self.connection.in_transaction:
                self.begin()
            self.depth += 1
            try:
                yield
                if self.depth == 1:
                    self.commit()
            except BaseException:
                self.roll_back()
                raise
            self.depth -= 1


@wrong(
    SILENT,
    "a failure is not counted out of nested transactions: no later one is the outermost",
)
class DepthNotCountedDown(SqliteReference):
    database_class = CountingDepth


class BreakingTheCircuit(Database):
    failed = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with super().writing():
                yield
                if self.failed:
                    self.roll_back()
                    self.begin()
        except sqlite3.Error:
            self.failed = True
            raise


@wrong(SILENT, "a circuit breaker: after an error nothing is written, and nothing raised")
class SilentAfterAnError(SqliteReference):
    database_class = BreakingTheCircuit


# -- previous-intact ----------------------------------------------------------------------


@wrong(
    PREVIOUS,
    "DELETE, commit, INSERT: a failed put has deleted what it was to replace",
    also={WHOLE},
)
class DeleteBeforeInsert(SqliteReference):
    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        place = (row.thread, row.ns, row.id)
        if self._rows(PLACE, *place):
            self.database.run(f"DELETE FROM checkpoints WHERE {PLACE}", *place)
            self.database.commit()
            self.database.begin()
        super()._insert_checkpoint(row)


@wrong(PREVIOUS, "the parent is put aside while its child is written", also={WHOLE})
class ParentPutAside(SqliteReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        place = (self._thread_of(config), self._put_ns(config), self._parent_of(config))
        aside = f"{place[2]}.aside"
        self._rename(*place, aside)
        answer = super().put(config, checkpoint, metadata, new_versions)
        self._rename(*place[:2], aside, place[2])
        return answer

    def _rename(self, thread: str, ns: str, id: str | None, name: str | None) -> None:
        if id is not None and name is not None:
            with self.database.writing():
                self.database.run(
                    f"UPDATE checkpoints SET id = ? WHERE {PLACE}", name, thread, ns, id
                )


@wrong(
    PREVIOUS,
    "a document database without updates: the record is taken out and put back with its writes",
    also={WHOLE, SILENT},
)
class RecordTakenOut(SqliteReference):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        with self.database.writing():
            record = self._rows(PLACE, *place)
            self.database.run(f"DELETE FROM checkpoints WHERE {PLACE}", *place)
        super().put_writes(config, writes, task_id, task_path)
        with self.database.writing():
            for row in record:
                self._insert_checkpoint(row)
