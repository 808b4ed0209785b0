"""Savers on PostgreSQL whose callers meet in the server, each thread on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from psycopg.errors import DeadlockDetected

from saverproof.mistakes.reference.store import WriteRow
from tests.servers.postgres_savers import Database, RightSaver, target_of

COUNTS = "CREATE TABLE IF NOT EXISTS counts (what TEXT PRIMARY KEY, number INTEGER NOT NULL)"
COUNTED = "INSERT INTO counts VALUES ('checkpoints', 0), ('batches', 0) ON CONFLICT DO NOTHING"
SOON = "-c deadlock_timeout=20ms"


class ConnectionOfEachThread(Database):
    """No lock of the process keeps two transactions apart."""

    def __init__(self, dsn: str) -> None:
        self.local = threading.local()
        self.opened: list[Any] = []
        super().__init__(psycopg.conninfo.make_conninfo(dsn, options=SOON))
        self.run(COUNTS)
        self.run(COUNTED)

    @property
    def connection(self) -> Any:
        """That of the thread."""
        if not hasattr(self.local, "connection"):
            self.connection = psycopg.connect(self.dsn, autocommit=True)
        return self.local.connection

    @connection.setter
    def connection(self, made: Any) -> None:
        self.local.connection = made
        self.opened.append(made)

    @contextmanager
    def writing(self) -> Iterator[None]:
        self.reconnect_if_lost()
        with self.connection.transaction():
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        self.reconnect_if_lost()
        with self.connection.transaction():
            self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

    def close(self) -> None:
        for connection in self.opened:
            connection.close()


class Contending(RightSaver):
    """Nothing is kept twice: what two callers do at once, the server sorts out."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(ConnectionOfEachThread(dsn))


class LocksInTwoOrders(Contending):
    """Keeps count of both in each operation, its own kind first: two of them may wait for each
    other, and the server ends one.
    """

    def put(self, *arguments: Any, **named: Any) -> Any:
        return self._met(lambda: super(LocksInTwoOrders, self).put(*arguments, **named))

    def put_writes(self, *arguments: Any, **named: Any) -> None:
        self._met(lambda: super(LocksInTwoOrders, self).put_writes(*arguments, **named))

    def _met(self, operation: Callable[[], Any]) -> Any:
        """What becomes of an operation that may be ended."""
        while True:
            try:
                return operation()
            except DeadlockDetected:
                continue

    def _insert_checkpoint(self, row: Any) -> None:
        super()._insert_checkpoint(row)
        self._count("checkpoints", "batches")

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        super()._insert_writes(place, rows)
        self._count("batches", "checkpoints")

    def _count(self, *kinds: str) -> None:
        for kind in kinds:
            self.database.run("UPDATE counts SET number = number + 1 WHERE what = ?", kind)


class SwallowsTheDeadlock(LocksInTwoOrders):
    """What the server has ended is taken for done."""

    def _met(self, operation: Callable[[], Any]) -> Any:
        try:
            return operation()
        except DeadlockDetected:
            return {"configurable": {}}


class WritesAnewWhatItRead(Contending):
    """Reads the writes of a checkpoint, adds a batch, and stores all of them, as READ COMMITTED
    lets two callers do at once.
    """

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        where = "thread = ? AND ns = ? AND id = ?"
        before = self.database.rows(f"SELECT * FROM writes WHERE {where}", *place)
        self.database.run(f"DELETE FROM writes WHERE {where}", *place)
        for row in before:
            marks = ", ".join("?" * len(row))
            self.database.run(f"INSERT INTO writes VALUES ({marks}) ON CONFLICT DO NOTHING", *row)
        super()._insert_writes(place, rows)


retrying = target_of(LocksInTwoOrders, "retrying", __name__)
swallowing = target_of(SwallowsTheDeadlock, "swallowing", __name__)
writing_anew = target_of(WritesAnewWhatItRead, "writing_anew", __name__)
