"""The connections of one store: one writer, readers beside it, each operation one transaction."""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, ParamSpec, TypeVar

from saverproof_savers import schema
from saverproof_savers.errors import SchemaError, explain
from saverproof_savers.files import MEMORY, OpenOptions, connect, create_private, use_journal
from saverproof_savers.schema import TableNames

T = TypeVar("T")
P = ParamSpec("P")
Work = Callable[[sqlite3.Cursor], T]
Reading = Callable[Concatenate[sqlite3.Cursor, P], T]

_READERS_KEPT = 8
_STORES: "weakref.WeakSet[Store]" = weakref.WeakSet()
_ABANDONED: list[object] = []


class Store:
    """Runs work on a database: `write` in one immediate transaction, `read` in one snapshot.

    Safe among threads. Subclasses say which connection is used.
    """

    where: str
    """What error messages call the database: its path, if it has one."""

    path: str | None
    """The path of the database file; None for a database in memory."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._closed = False
        # True from before BEGIN until the transaction is known to have ended. Whatever interrupts
        # an operation, the next one sees it and ends the transaction first.
        self._unsettled = False
        self._writers: ThreadPoolExecutor | None = None
        self._readers: ThreadPoolExecutor | None = None
        _STORES.add(self)

    def _after_fork(self) -> None:
        """Start anew in a child process, where locks may be held by threads that are not there."""
        self._lock = threading.RLock()
        self._writers = None
        self._readers = None

    def write(self, work: Work[T]) -> T:
        """Do `work` in a transaction of its own, which is committed, or else leaves nothing."""
        with self._lock:
            connection = self._settled()
            self._unsettled = True
            try:
                cursor = _plain_cursor(connection)
                cursor.execute("BEGIN IMMEDIATE")
                result = work(cursor)
                cursor.execute("COMMIT")
            except sqlite3.Error as error:
                self._settle()
                explain(error, self.where)
                raise
            except BaseException:
                self._settle()
                raise
            self._unsettled = False
            return result

    def read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `work(cursor, ...)`, which only reads, and sees one state of the database."""
        raise NotImplementedError

    def close(self) -> None:
        """Release everything; again and again is fine."""
        with self._lock:
            self._closed = True
            pools = (self._writers, self._readers)
        # Outside the lock, which the work still queued in the pools needs.
        for pool in pools:
            if pool is not None:
                pool.shutdown(wait=True)

    def setup(self, names: TableNames) -> None:
        """Create the tables, or bring them up to date. Raises SchemaError."""
        try:
            if not self.read(lambda cursor: schema.is_current(cursor, names)):
                self.write(lambda cursor: schema.migrate(cursor, names))
        except SchemaError as error:
            raise SchemaError(f"{self.where}: {error}") from None

    def pool_for_writes(self) -> ThreadPoolExecutor:
        """One thread, so that async writes are made in the order in which they were asked for."""
        with self._lock:
            self._check_open()
            if self._writers is None:
                self._writers = ThreadPoolExecutor(1, "saverproof-sqlite-writer")
            return self._writers

    def pool_for_reads(self) -> ThreadPoolExecutor:
        """The threads in which async reads are made."""
        return self.pool_for_writes()

    def _settled(self) -> sqlite3.Connection:
        """The connection for writing, with no transaction of ours left on it."""
        raise NotImplementedError

    def _settle(self) -> None:
        """End the transaction that a failed operation may have left."""
        raise NotImplementedError

    def _check_open(self) -> None:
        if self._closed:
            raise sqlite3.ProgrammingError(f"{self.where}: the saver is closed")


class SharedStore(Store):
    """A store on one connection: a database in memory, or a connection that belongs to another."""

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        super().__init__()
        self._connection = connection
        self.where = where
        self.path = None

    def read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            self._check_open()
            if self._connection.in_transaction and not self._unsettled:
                # Its owner's transaction: look at what the owner sees.
                return self._look(work, *args, **kwargs)
            connection = self._settled()
            self._unsettled = True
            try:
                _plain_cursor(connection).execute("BEGIN")
                return self._look(work, *args, **kwargs)
            finally:
                self._settle()

    def _look(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(_plain_cursor(self._connection), *args, **kwargs)
        except sqlite3.Error as error:
            explain(error, self.where)
            raise

    def _settled(self) -> sqlite3.Connection:
        self._check_open()
        if self._unsettled:
            self._settle()
        if self._connection.in_transaction:
            raise sqlite3.OperationalError(
                f"{self.where}: found an open transaction, expected none; "
                "commit it or roll it back before the saver writes"
            )
        return self._connection

    def _settle(self) -> None:
        if self._connection.in_transaction:
            self._connection.rollback()
        self._unsettled = False


class GivenStore(SharedStore):
    """A store on a connection that its owner keeps: never closed, and no setting changed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection, "the given connection")
        if getattr(connection, "autocommit", None) is False:
            raise ValueError(
                "the given connection has autocommit=False, under which a transaction is always "
                "open; expected autocommit=True or the default"
            )
        if connection.text_factory is not str:
            raise ValueError(
                f"the given connection has text_factory={connection.text_factory!r}, expected str"
            )
        cursor = _plain_cursor(connection)
        file = next((row[2] for row in cursor.execute("PRAGMA database_list")), "")
        if file:
            self.path = file
            self.where = file


class MemoryStore(SharedStore):
    """A store that lives in memory, for as long as it is open."""

    def __init__(self, options: OpenOptions) -> None:
        super().__init__(connect(MEMORY, options), "the database in memory")

    def close(self) -> None:
        super().close()
        with self._lock:
            self._connection.close()


class FileStore(Store):
    """A store in a file of its own: readers have connections of their own, and block no writer."""

    path: str

    def __init__(self, path: str, options: OpenOptions) -> None:
        super().__init__()
        self.path = path
        self.where = path
        self._options = options
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        create_private(path)

    def read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            connection = self._borrow()
            try:
                cursor = connection.cursor()
                cursor.execute("BEGIN")
                result = work(cursor, *args, **kwargs)
                cursor.execute("COMMIT")
            except BaseException:
                # Closing ends the snapshot, whatever state the failure left it in.
                connection.close()
                raise
        except sqlite3.Error as error:
            explain(error, self.where)
            raise
        self._give_back(connection)
        return result

    def close(self) -> None:
        super().close()
        with self._lock:
            connections, self._idle = self._idle, []
            if self._writer is not None:
                # Last, so that SQLite folds the write-ahead log into the file.
                connections.append(self._writer)
                self._writer = None
            for connection in connections:
                connection.close()

    def pool_for_reads(self) -> ThreadPoolExecutor:
        with self._lock:
            self._check_open()
            if self._readers is None:
                self._readers = ThreadPoolExecutor(4, "saverproof-sqlite-reader")
            return self._readers

    def _after_fork(self) -> None:
        super()._after_fork()
        # SQLite forbids carrying a connection over a fork, and closing it in the child could take
        # the write-ahead log from under the parent: they are neither used nor closed.
        _ABANDONED.extend([*self._idle, self._writer])
        self._idle = []
        self._writer = None
        self._unsettled = False

    def _borrow(self) -> sqlite3.Connection:
        self._check_open()
        try:
            return self._idle.pop()
        except IndexError:
            connection = connect(self.path, self._options)
            connection.execute("PRAGMA query_only=ON")
            return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _READERS_KEPT:
                self._idle.append(connection)
                return
        connection.close()

    def _settled(self) -> sqlite3.Connection:
        self._check_open()
        if self._unsettled:
            self._settle()
        if self._writer is None:
            try:
                connection = connect(self.path, self._options)
                try:
                    use_journal(connection, self._options)
                except BaseException:
                    connection.close()
                    raise
            except sqlite3.Error as error:
                explain(error, self.where)
                raise
            self._writer = connection
        return self._writer

    def _settle(self) -> None:
        connection = self._writer
        try:
            if connection is not None and connection.in_transaction:
                connection.rollback()
        except sqlite3.Error:
            # A connection that cannot roll back is of no more use; closing it rolls back.
            self._writer = None
            if connection is not None:
                connection.close()
        self._unsettled = False


def _after_fork_in_child() -> None:
    for store in list(_STORES):
        store._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def open_store(path: str | os.PathLike[str], options: OpenOptions) -> Store:
    """The store at `path`, which is created, readable by its owner alone, if there is none."""
    text = os.fspath(path)
    if text == MEMORY:
        return MemoryStore(options)
    return FileStore(text, options)


def _plain_cursor(connection: sqlite3.Connection) -> sqlite3.Cursor:
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor
