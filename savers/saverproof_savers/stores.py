"""Stores on one connection, in memory or of another owner, and the store that a path names."""

import os
import sqlite3
import weakref
from contextlib import closing

from saverproof_savers import damaged_text
from saverproof_savers.connection import Database, P, Reading, T, plain_cursor
from saverproof_savers.errors import explain
from saverproof_savers.file_store import FileStore
from saverproof_savers.files import MEMORY, OpenOptions, connect

_GIVEN: "weakref.WeakSet[GivenStore]" = weakref.WeakSet()


class SharedStore(Database):
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
            # The owner has a transaction open: read what the owner sees.
            return self._look(work, *args, **kwargs)
        connection = self._settled()
        self._unsettled = True
        try:
            with closing(plain_cursor(connection)) as cursor:
                cursor.execute("BEGIN")
            return self._look(work, *args, **kwargs)
        except sqlite3.Error as error:
            self._settle_after(error)
            explain(error, self.where)
            raise
        finally:
            if self._unsettled:
                self._settle()

    def _look(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            try:
                with closing(plain_cursor(self._connection)) as cursor:
                    return work(cursor, *args, **kwargs)
            except sqlite3.OperationalError as error:
                if not damaged_text.is_told_by(error):
                    raise
            with (
                damaged_text.as_bytes(self._connection),
                closing(plain_cursor(self._connection)) as cursor,
            ):
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
    """A store on a connection that its owner keeps: it is never closed, and no setting is
    changed.
    """

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
        # Savers on one connection share its one transaction, and so take turns.
        for other in list(_GIVEN):
            if other._connection is connection:
                self._lock = other._lock
        _GIVEN.add(self)


class MemoryStore(SharedStore):
    """A store that lives in memory, for as long as it is open."""

    def __init__(self, options: OpenOptions) -> None:
        super().__init__(connect(MEMORY, options), "the database in memory")

    def close(self) -> None:
        super().close()
        with self._lock:
            self._connection.close()


def open_store(path: str | os.PathLike[str], options: OpenOptions) -> Database:
    """Open the store at ``path``. A missing one is created, readable by its owner alone."""
    text = os.fspath(path)
    if text == MEMORY:
        return MemoryStore(options)
    # Connections are opened when they are needed; the process may have changed its folder by then.
    return FileStore(os.path.abspath(text), options)
