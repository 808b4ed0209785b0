"""The stores: a file, a database in memory, and a connection that belongs to somebody else."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from saverproof_savers.connection import P, Reading, Store, T, plain_cursor
from saverproof_savers.errors import explain
from saverproof_savers.files import MEMORY, OpenOptions, connect, create_private, use_journal

_READERS_KEPT = 8
_ABANDONED: list[object] = []


class SharedStore(Store):
    """A store on one connection: a database in memory, or a connection that belongs to another."""

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        super().__init__()
        self._connection = connection
        self.where = where
        self.path = None

    def read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            self._check_not_inside()
            try:
                self._inside = True
                return self._read(work, *args, **kwargs)
            finally:
                self._inside = False

    def _read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._check_open()
        if self._connection.in_transaction and not self._unsettled:
            # Its owner's transaction: look at what the owner sees.
            return self._look(work, *args, **kwargs)
        connection = self._settled()
        self._unsettled = True
        try:
            with closing(plain_cursor(connection)) as cursor:
                cursor.execute("BEGIN")
            return self._look(work, *args, **kwargs)
        finally:
            self._settle()

    def _look(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with closing(plain_cursor(self._connection)) as cursor:
                return work(cursor, *args, **kwargs)
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
        with closing(plain_cursor(connection)) as cursor:
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
        self._idle: list[sqlite3.Cursor] = []
        self._writer: sqlite3.Connection | None = None
        create_private(path)

    def read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            reader = self._borrow()
            try:
                reader.execute("BEGIN")
                result = work(reader, *args, **kwargs)
                reader.execute("COMMIT")
            except BaseException:
                # Closing ends the snapshot, whatever state the failure left it in.
                reader.connection.close()
                raise
        except sqlite3.Error as error:
            explain(error, self.where)
            raise
        self._idle.append(reader)
        if self._closed or len(self._idle) > _READERS_KEPT:
            self._close_idle()
        return result

    def close(self) -> None:
        super().close()
        with self._lock:
            self._close_idle()
            if self._writer is not None:
                # Last, so that SQLite folds the write-ahead log into the file.
                self._writer.close()
                self._writer = None

    def pool_for_reads(self) -> ThreadPoolExecutor:
        with self._pools_lock:
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

    def _borrow(self) -> sqlite3.Cursor:
        self._check_open()
        try:
            return self._idle.pop()
        except IndexError:
            connection = connect(self.path, self._options)
        try:
            return connection.execute("PRAGMA query_only=ON")
        except BaseException:
            connection.close()
            raise

    def _close_idle(self) -> None:
        """Close the readers that are too many: of a closed store, all."""
        kept = 0 if self._closed else _READERS_KEPT
        while len(self._idle) > kept:
            try:
                reader = self._idle.pop()
            except IndexError:
                # Another thread came first.
                return
            reader.connection.close()

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
        if connection is not None and connection.in_transaction:
            try:
                connection.rollback()
            except BaseException as error:
                # A connection that cannot roll back is of no more use; closing it rolls back.
                self._writer = None
                connection.close()
                if not isinstance(error, sqlite3.Error):
                    raise
        self._unsettled = False


def open_store(path: str | os.PathLike[str], options: OpenOptions) -> Store:
    """The store at `path`, which is created, readable by its owner alone, if there is none."""
    text = os.fspath(path)
    if text == MEMORY:
        return MemoryStore(options)
    return FileStore(text, options)
