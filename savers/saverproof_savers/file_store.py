"""A store in a file of its own, with one connection for writing and others for reading."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import SupportsIndex

from saverproof_savers import damaged_text
from saverproof_savers.connection import Database, P, Reading, T
from saverproof_savers.errors import explain
from saverproof_savers.files import OpenOptions, connect, create_private, use_journal

_READERS_KEPT = 8
"""How many idle readers stay open: each keeps a descriptor and a cache of pages."""
_FORK_WAITS_S = 5.0
"""Seconds that a fork waits for a read of another thread."""
_ABANDONED: list[object] = []


class _NoneToLend(list[sqlite3.Cursor]):
    """A list of idle readers during a fork: it takes readers back, and lends none."""

    def pop(self, index: SupportsIndex = -1, /) -> sqlite3.Cursor:
        raise IndexError


class FileStore(Database):
    """A store in a file of its own. Readers have connections of their own, and block no writer."""

    path: str

    def __init__(self, path: str, options: OpenOptions) -> None:
        super().__init__()
        self.path = path
        self.where = path
        self._options = options
        self._idle: list[sqlite3.Cursor] = []
        # Readers that are in use are in this set as well.
        self._readers_open: set[sqlite3.Cursor] = set()
        self._opening = threading.RLock()
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
                self._close_reader(reader)
                raise
        except sqlite3.Error as error:
            if damaged_text.is_told_by(error):
                return self._read_damaged(work, *args, **kwargs)
            explain(error, self.where)
            raise
        self._idle.append(reader)
        if self._closed or len(self._idle) > _READERS_KEPT:
            self._close_some(self._idle, 0 if self._closed else _READERS_KEPT)
        return result

    def _read_damaged(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            reader = self._open_reader()
            try:
                with damaged_text.as_bytes(reader.connection):
                    reader.execute("BEGIN")
                    return work(reader, *args, **kwargs)
            finally:
                self._close_reader(reader)
        except sqlite3.Error as error:
            explain(error, self.where)
            raise

    def close(self) -> None:
        super().close()
        with self._lock:
            self._close_some(self._idle)
            self._close_writer()

    def pool_for_reads(self) -> ThreadPoolExecutor:
        with self._pools_lock:
            self._check_open()
            if self._readers is None:
                self._readers = ThreadPoolExecutor(4, "saverproof-sqlite-reader")
            return self._readers

    def before_fork(self) -> None:
        super().before_fork()
        self._opening.acquire()
        idle, self._idle = self._idle, _NoneToLend()
        deadline = time.monotonic() + _FORK_WAITS_S
        while True:
            for returned in (idle, self._idle):
                self._close_some(returned)
            if not self._readers_open or time.monotonic() > deadline:
                break
            time.sleep(0.001)
        if self._held_for_fork and not self._inside:
            self._close_writer()

    def after_fork_in_parent(self) -> None:
        self._idle = list(self._idle)
        self._opening.release()
        super().after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        super().after_fork_in_child()
        # Connections that could not be closed in time are never used or closed here: closing them
        # could take the write-ahead log from under the parent.
        _ABANDONED.extend([*self._readers_open, self._writer])
        self._readers_open = set()
        self._idle = []
        self._opening = threading.RLock()
        self._writer = None
        self._unsettled = False

    def _borrow(self) -> sqlite3.Cursor:
        self._check_open()
        try:
            return self._idle.pop()
        except IndexError:
            return self._open_reader()

    def _open_reader(self) -> sqlite3.Cursor:
        with self._opening:
            connection = connect(self.path, self._options)
            try:
                reader = connection.execute("PRAGMA query_only=ON")
            except BaseException:
                connection.close()
                raise
            self._readers_open.add(reader)
        return reader

    def _close_reader(self, reader: sqlite3.Cursor) -> None:
        reader.connection.close()
        self._readers_open.discard(reader)

    def _close_some(self, readers: list[sqlite3.Cursor], kept: int = 0) -> None:
        while len(readers) > kept:
            try:
                reader = list.pop(readers)
            except IndexError:
                # Another thread has done it already.
                return
            self._close_reader(reader)

    def _close_writer(self) -> None:
        """Close the writer, after the readers: SQLite then folds the log into the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            self._unsettled = False

    def _settled(self) -> sqlite3.Connection:
        self._check_open()
        if self._unsettled:
            self._settle()
        if self._writer is None:
            # A reader, even an idle one, keeps SQLite from changing the journal mode.
            self._close_some(self._idle)
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

    def _settle_after(self, error: Exception) -> None:
        super()._settle_after(error)
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY:
            # If SQLite cannot open the file for writing, it opens it for reading, and stays so.
            self._close_writer()

    def _settle(self) -> None:
        connection = self._writer
        if connection is not None and connection.in_transaction:
            try:
                connection.rollback()
            except BaseException as error:
                # A connection that cannot roll back is useless; closing it rolls back.
                self._writer = None
                connection.close()
                if not isinstance(error, sqlite3.Error):
                    raise
        self._unsettled = False
