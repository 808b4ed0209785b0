"""A right saver on PostgreSQL, and wrong ones: each operation of the right one is one transaction.

The statements are those of the reference saver on SQLite, as PostgreSQL has them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Self

import psycopg

from saverproof import Postgres, Workspace
from saverproof.mistakes.reference.store import CheckpointRow, WriteRow
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from tests.reference.sqlite import PLACE, PUT, SqliteReference

TABLES = (
    'CREATE TABLE IF NOT EXISTS checkpoints (thread TEXT COLLATE "C", ns TEXT COLLATE "C", '
    'id TEXT COLLATE "C", parent TEXT, type TEXT NOT NULL, checkpoint BYTEA NOT NULL, '
    "metadata_type TEXT NOT NULL, metadata BYTEA NOT NULL, PRIMARY KEY (thread, ns, id))",
    'CREATE TABLE IF NOT EXISTS writes (thread TEXT COLLATE "C", ns TEXT COLLATE "C", '
    'id TEXT COLLATE "C", task TEXT COLLATE "C", position INTEGER, channel TEXT NOT NULL, '
    "type TEXT NOT NULL, value BYTEA NOT NULL, path TEXT NOT NULL, "
    "PRIMARY KEY (thread, ns, id, task, position))",
)
SET_UP_BY_ONE = "SELECT pg_advisory_xact_lock(8562)"
CONFLICT = "ON CONFLICT (thread, ns, id, task, position) "
WRITE = f"INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) {CONFLICT}"
REPLACE = (
    "DO UPDATE SET channel = excluded.channel, type = excluded.type, value = excluded.value, "
    "path = excluded.path"
)
COPY_CHECKPOINTS = (
    "INSERT INTO checkpoints SELECT ?, ns, id, parent, type, checkpoint, metadata_type, metadata "
    f"FROM checkpoints WHERE thread = ? {PUT[PUT.index('ON CONFLICT') :]}"
)
COPY_WRITES = (
    "INSERT INTO writes SELECT ?, ns, id, task, position, channel, type, value, path "
    f"FROM writes WHERE thread = ? {CONFLICT}{REPLACE}"
)


class Database:
    """A connection and its lock; the connection is made anew when it was lost."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.lock = threading.RLock()
        self.connection = psycopg.connect(dsn, autocommit=True)
        with self.writing():
            self.run(SET_UP_BY_ONE)
            for table in TABLES:
                self.run(table)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it, or nothing and the exception."""
        with self.lock:
            self.reconnect_if_lost()
            with self.connection.transaction():
                yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One view of the store, within which any number of statements read."""
        with self.lock:
            self.reconnect_if_lost()
            with self.connection.transaction():
                if self.connection.info.transaction_status:
                    self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                yield

    def reconnect_if_lost(self) -> None:
        """Connect again after the connection was lost."""
        if self.connection.broken:
            self.connection = psycopg.connect(self.dsn, autocommit=True)

    def run(self, statement: str, *values: Any) -> None:
        """Execute a statement."""
        self.connection.execute(statement.replace("?", "%s"), values)

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Execute a query."""
        return self.connection.execute(statement.replace("?", "%s"), values).fetchall()

    def close(self) -> None:
        """Close the connection; any number of times."""
        self.connection.close()


class RightSaver(SqliteReference):
    """The plain saver on PostgreSQL."""

    def __init__(self, database: Database, *, serde: Any = None) -> None:
        super(SqliteReference, self).__init__(serde=serde)
        self.database: Any = database
        self.is_clone = False

    @classmethod
    def on(cls, dsn: str) -> Self:
        """A saver in this database."""
        return cls(Database(dsn))

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        for row in rows:
            values = (row.task_id, row.index, row.channel, *row.value, row.path)
            conflict = REPLACE if row.index < 0 else "DO NOTHING"
            self.database.run(WRITE + conflict, *place, *values)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id != target_thread_id:
            names = (str(target_thread_id), str(source_thread_id))
            with self.database.writing():
                # One statement sees one moment, two of a transaction see two.
                self.database.run(f"WITH one AS ({COPY_CHECKPOINTS}) {COPY_WRITES}", *names, *names)


class CopiesInTwoStatements(RightSaver):
    """Copies in one transaction, of which each statement sees what is committed by then."""

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id != target_thread_id:
            with self.database.writing():
                self.database.run(COPY_CHECKPOINTS, target_thread_id, source_thread_id)
                self.database.run(COPY_WRITES, target_thread_id, source_thread_id)


class TwoMoments(Database):
    """Each statement of a read sees what is committed by then, in a transaction or without one."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self.lock:
            self.reconnect_if_lost()
            yield


class Committed(TwoMoments):
    """A transaction of which each statement sees what is committed by then."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        with super().reading(), self.connection.transaction():
            yield


class ReadsTwoMoments(RightSaver):
    """Between a checkpoint and its writes, or in a listing, another process may come."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(TwoMoments(dsn))


class ReadsCommitted(RightSaver):
    """The same, for READ COMMITTED is no view of one moment."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(Committed(dsn))


class ReadsWritesFirst(ReadsTwoMoments):
    """The writes that it reads may be those of a thread that is gone, and was put anew."""

    def get_tuple(self, config: Any) -> Any:
        with self.database.reading():
            first = self._find(config)
            writes = [] if first is None else self._stored_writes(first)
            row = self._find(config)
        return None if row is None else self._tuple(row, {}, writes)


class WithoutTransactions(Database):
    """Each statement is committed by itself."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self.lock:
            self.reconnect_if_lost()
            yield


class Autocommitting(RightSaver):
    """An operation that fails in its middle leaves what was written before."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(WithoutTransactions(dsn))


class WithoutWaiting(Database):
    """The server answers a commit before it has written it."""

    def __init__(self, dsn: str) -> None:
        super().__init__(psycopg.conninfo.make_conninfo(dsn, options="-c synchronous_commit=off"))


class AsynchronouslyCommitting(RightSaver):
    """What it has acknowledged is lost if the server dies."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(WithoutWaiting(dsn))


class WritesThenCheckpoints(RightSaver):
    """Deletes the runs' writes in one transaction, and their checkpoints in another: between them
    the store is as it was before the writes were put.
    """

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        for row in self._rows():
            if self._load_metadata(row.metadata).get("run_id") in run_ids:
                place = (row.thread, row.ns, row.id)
                with self.database.writing():
                    self.database.run(f"DELETE FROM writes WHERE {PLACE}", *place)
        super().delete_for_runs(run_ids)


class WithoutWaitingEither(WritesThenCheckpoints):
    """The same, and the server does not wait for the log."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(WithoutWaiting(dsn))


class MigratingOnce(Database):
    """Sets up step by step, and each step is committed apart from the note that it is done."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.lock = threading.RLock()
        self.connection = psycopg.connect(dsn, autocommit=True)
        self.run("CREATE TABLE IF NOT EXISTS migrations (step INTEGER)")
        done = len(self.rows("SELECT step FROM migrations"))
        for number, table in enumerate(TABLES[done:], start=done):
            self.run(table.replace("IF NOT EXISTS ", ""))
            self.run("INSERT INTO migrations VALUES (?)", number)


class Migrating(RightSaver):
    """Killed between a step and its note, it can never be opened again."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(MigratingOnce(dsn))


class LeavingOpen(Database):
    """Beside its connection there is one with a transaction that nobody ends."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.beside = psycopg.connect(dsn)
        self.beside.execute("LOCK TABLE writes IN ROW EXCLUSIVE MODE")

    def close(self) -> None:
        self.beside.close()
        super().close()


class LeavesOpen(RightSaver):
    """No trigger can be put on its tables while it is open."""

    @classmethod
    def on(cls, dsn: str) -> Self:
        return cls(LeavingOpen(dsn))


class TwoTransactions(RightSaver):
    """What a checkpoint holds is stored in a second transaction, after its row."""

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        empty = self._dump({**self._load(row.checkpoint), "channel_values": {}})
        address = (row.thread, row.ns, row.id, row.parent)
        self.database.run(PUT, *address, *empty, *row.metadata)
        self.database.run("COMMIT")
        self.database.run("BEGIN")
        super()._insert_checkpoint(row)


class ScansInTheServer(RightSaver):
    """No index serves these expressions: the server goes through the table."""

    def _find(self, config: Any) -> CheckpointRow | None:
        asked = self._asked_id(config)
        if asked is None:
            return super()._find(config)
        place = (self._thread_of(config), self._get_ns(config))
        rows = self._rows("thread || '' = ? AND ns || '' = ? AND id || '' = ?", *place, asked)
        return rows[0] if rows else None


def target_of(saver: type[RightSaver], attribute: str, module: str = __name__) -> Target:
    """A target that opens this saver, an attribute of a module."""

    @contextmanager
    def opened(workspace: Workspace) -> Iterator[RightSaver]:
        with closing(saver.on(workspace.dsn)) as made:
            yield made

    name = attribute.replace("_", "-")
    ref = TargetRef(name, module=module, file=None, attribute=attribute)
    return Target(name=name, open=opened, server=Postgres(), ref=ref)


right = target_of(RightSaver, "right")
reads_committed = target_of(ReadsCommitted, "reads_committed")
reads_two_moments = target_of(ReadsTwoMoments, "reads_two_moments")
reads_writes_first = target_of(ReadsWritesFirst, "reads_writes_first")
in_two_statements = target_of(CopiesInTwoStatements, "in_two_statements")
autocommitting = target_of(Autocommitting, "autocommitting")
asynchronous = target_of(AsynchronouslyCommitting, "asynchronous")
asynchronous_and_torn = target_of(WithoutWaitingEither, "asynchronous_and_torn")
leaves_open = target_of(LeavesOpen, "leaves_open")
migrating = target_of(Migrating, "migrating")
scans = target_of(ScansInTheServer, "scans")
writes_then_checkpoints = target_of(WritesThenCheckpoints, "writes_then_checkpoints")
two_transactions = target_of(TwoTransactions, "two_transactions")
