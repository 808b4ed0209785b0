"""Savers that a failure or a cancellation leaves unusable."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

WHOLE = "atomicity/all-or-nothing"
LATE = "atomicity/no-late-commit"
USABLE = "atomicity/usable-after"
CANCELLED = "atomicity/cancelled"


# -- usable-after -------------------------------------------------------------------------


class RollingBackLate(Database):
    readers = 0

    def begin(self) -> None:
        super().roll_back()
        super().begin()

    def roll_back(self) -> None:
        return

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            if self.readers == 0:
                super().roll_back()
            self.readers += 1
            try:
                yield
            finally:
                self.readers -= 1


@wrong(USABLE, "what failed is rolled back when the next operation begins", also={WHOLE})
class RollbackAtTheNextBegin(SqliteReference):
    database_class = RollingBackLate


class NeverReleasing(Database):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = threading.Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        # Waits that end, so that an exception can end this thread; long ones, which are no work.
        while not self.gate.acquire(timeout=0.3):
            continue
        with super().writing():
            yield
        self.gate.release()


@wrong(USABLE, "acquire, work, release: no finally", hangs=True)
class LockNeverReleased(SqliteReference):
    database_class = NeverReleasing


class WaitingForItself(Database):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gate = threading.Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.gate, super().writing():
            yield

    def roll_back(self) -> None:
        if self.gate.locked() and self.connection.in_transaction:
            # As above.
            while not self.gate.acquire(timeout=0.3):
                continue
        super().roll_back()


@wrong(USABLE, "rolling back takes the lock that the failed operation still holds", hangs=True)
class LockTakenTwiceOnFailure(SqliteReference):
    database_class = WaitingForItself


class GivingUp(Database):
    failed = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        if self.failed:
            raise sqlite3.ProgrammingError("the saver failed before")
        try:
            with super().writing():
                yield
        except BaseException:
            self.failed = True
            raise


@wrong(USABLE, "a saver that failed once refuses to work")
class FailedOnceFailedForever(SqliteReference):
    database_class = GivingUp


class ClosingOnError(Database):
    def reconnect_if_lost(self) -> None:
        return

    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with super().writing():
                yield
        except sqlite3.Error:
            self.connection.close()
            raise


@wrong(USABLE, "a connection that raised is closed, and no other is opened")
class ClosedAfterAnError(SqliteReference):
    database_class = ClosingOnError


class Leaking(Database):
    """Takes each transaction's connection from a pool."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.free = [self.connect() for _ in range(5)]

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            if not self.free:
                raise sqlite3.OperationalError("no connection is free")
            reader, self.connection = self.connection, self.free.pop()
            try:
                with super().writing():
                    yield
            finally:
                used, self.connection = self.connection, reader
            self.free.append(used)

    def close(self) -> None:
        super().close()
        for connection in self.free:
            connection.close()


@wrong(USABLE, "a connection goes back to its pool of five only if nothing failed")
class PoolLeaksOnFailure(SqliteReference):
    database_class = Leaking


class NeverConnectingAgain(Database):
    def reconnect_if_lost(self) -> None:
        return


@wrong(
    "atomicity/usable-after-lost-connection", "the connection is opened once, in the constructor"
)
class NeverConnectsAgain(SqliteReference):
    database_class = NeverConnectingAgain


# -- cancelled ----------------------------------------------------------------------------


class Stepwise(SqliteReference):
    """Lets the event loop run between two rows of a batch."""

    def _gate(self) -> asyncio.Lock:
        gate: asyncio.Lock = self.__dict__.setdefault("gate", asyncio.Lock())
        return gate

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        async with self._gate():
            self.database.begin()
            try:
                yield
            except Exception:
                self.database.roll_back()
                raise
            self.database.commit()

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        async with self._transaction():
            for row in rows:
                self._insert_writes(place, [row])
                await asyncio.sleep(0)


@wrong(
    CANCELLED,
    "except Exception: a CancelledError is none",
    apis=("async",),
    also={USABLE, LATE, WHOLE},
)
class CancelledStaysOpen(Stepwise):
    """Nothing but what `Stepwise` does."""


@wrong(CANCELLED, "the half that was written is committed", apis=("async",))
class CancelledIsCommitted(Stepwise):
    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        async with self._gate():
            with self.database.writing():
                try:
                    yield
                except asyncio.CancelledError:
                    self.database.commit()
                    raise


@wrong(CANCELLED, "gate.release() without finally", apis=("async",), hangs=True, also={USABLE})
class CancelledKeepsTheGate(Stepwise):
    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        await self._gate().acquire()
        with self.database.writing():
            yield
        self._gate().release()
