"""Savers whose callers share a transaction: what ends one caller's ends the other's with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

WHOLE = "atomicity/all-or-nothing"
SILENT = "atomicity/no-silent-loss"
CANCELLED = "atomicity/cancelled"


class Joining(Database):
    """Who comes second joins in."""

    def join(self) -> None:
        self.reconnect_if_lost()
        if self.connection.in_transaction:
            return
        try:
            self.begin()
        except BaseException:
            self.roll_back()
            raise


class OneTransactionForAll(Joining):
    """As Python's own connections are used that all threads share."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        self.join()
        try:
            yield
            self.commit()
        except BaseException:
            self.roll_back()
            raise

    def commit(self) -> None:
        self.connection.commit()


@wrong(
    SILENT,
    "threads share a connection and its transaction: one's rollback takes the other's rows",
    apis=("sync",),
    also={WHOLE},
)
class RollbackTakesTheNeighbours(SqliteReference):
    database_class = OneTransactionForAll


class RollsBackBehindItsLock(Joining):
    """The lock is given back before what has failed is rolled back."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with self.lock:
                self.join()
                yield
                self.commit()
        except BaseException:
            self.roll_back()
            raise


@wrong(
    WHOLE,
    "rolls back when its lock is free again: who gets the lock first commits the failed rows",
    apis=("sync",),
)
class NeighbourCommitsTheFailed(SqliteReference):
    database_class = RollsBackBehindItsLock


class StepByStep(SqliteReference):
    """Lets the event loop run between two rows of a batch."""

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        with self.database.writing():
            yield

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        async with self._transaction():
            for row in rows:
                self._insert_writes(place, [row])
                await asyncio.sleep(0)


@wrong(
    SILENT,
    "tasks share a connection and its transaction: one's rollback takes the other's rows",
    apis=("async",),
    also={WHOLE, CANCELLED},
)
class RollbackTakesTheNeighboursTask(StepByStep):
    database_class = OneTransactionForAll


class EndedByTheLast(Joining):
    """A transaction that is ended by the last one in it: rolled back if that one has failed."""

    inside = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        self.join()
        self.inside += 1
        failed = False
        try:
            yield
        except BaseException:
            failed = self.inside == 1
            raise
        finally:
            self.inside -= 1
            if failed:
                self.roll_back()
            elif not self.inside:
                self._commit_or_undo()

    def _commit_or_undo(self) -> None:
        try:
            self.commit()
        except BaseException:
            self.roll_back()
            raise


@wrong(
    WHOLE,
    "the last of the callers commits for all of them, also for one that has failed",
    apis=("async",),
    also={SILENT, CANCELLED},
)
class LastOneCommitsForAll(StepByStep):
    database_class = EndedByTheLast
