"""The common part of all stores: each operation is one transaction, whatever goes wrong."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Concatenate, ParamSpec, TypeVar

from saverproof_savers import damaged_text, schema
from saverproof_savers.errors import SchemaError, UndecodableError, explain
from saverproof_savers.forking import tell_of_forks
from saverproof_savers.schema import TableNames

T = TypeVar("T")
P = ParamSpec("P")
Work = Callable[[sqlite3.Cursor], T]
Reading = Callable[Concatenate[sqlite3.Cursor, P], T]

_BEGUN_BY_ANOTHER = "cannot start a transaction within a transaction"
_FORK_WAITS_S = 10.0
"""Seconds that a fork waits for a transaction of another thread. Transactions are short, and a fork
must not be held up for ever.
"""


class Database:
    """A database that runs work: ``write`` in one immediate transaction, ``read`` in one snapshot.

    Threads may share it. Subclasses say which connection is used.
    """

    where: str
    """The database's name in error messages: its path, if it has one."""

    path: str | None
    """The path of the database file; None for a database in memory."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # This lock is held for moments only, so that an event loop may take it.
        self._pools_lock = threading.Lock()
        self._closed = False
        # True from before BEGIN until the transaction is known to have ended. Whatever interrupts
        # an operation, the next one sees this and ends the transaction first.
        self._unsettled = False
        self._inside = False
        self._writers: ThreadPoolExecutor | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._held_for_fork = False
        tell_of_forks(self)

    def before_fork(self) -> None:
        """Wait for the running write to end, and let none begin."""
        self._held_for_fork = self._lock.acquire(timeout=_FORK_WAITS_S)

    def after_fork_in_parent(self) -> None:
        """Let writes go on."""
        if self._held_for_fork:
            self._held_for_fork = False
            self._lock.release()

    def after_fork_in_child(self) -> None:
        """Start afresh: threads that are not in the child may hold the locks."""
        self._lock = threading.RLock()
        self._pools_lock = threading.Lock()
        self._inside = False
        self._writers = None
        self._readers = None

    def write(self, work: Work[T]) -> T:
        """Do ``work`` in a transaction of its own, which is committed or leaves nothing."""
        with self._lock:
            self._check_not_inside()
            try:
                self._inside = True
                try:
                    return self._transact(work)
                except sqlite3.OperationalError as error:
                    if not damaged_text.is_told_by(error):
                        raise
                # The text was not UTF-8, and the transaction has left nothing: do the work again.
                with damaged_text.as_bytes(self._settled()):
                    return self._transact(work)
            finally:
                self._inside = False

    def _transact(self, work: Work[T]) -> T:
        connection = self._settled()
        self._unsettled = True
        try:
            with closing(plain_cursor(connection)) as cursor:
                cursor.execute("BEGIN IMMEDIATE")
                result = work(cursor)
                cursor.execute("COMMIT")
        except (sqlite3.Error, UndecodableError) as error:
            self._settle_after(error)
            explain(error, self.where)
            raise
        except BaseException:
            self._settle()
            raise
        self._unsettled = False
        return result

    def _check_not_inside(self) -> None:
        # Only the thread that holds the lock gets here: a serializer, a signal handler or a
        # finalizer has called the saver in the middle of one of its operations.
        if self._inside:
            raise sqlite3.ProgrammingError(
                f"{self.where}: the saver was called from inside one of its own operations"
            )

    def read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do ``work(cursor, ...)``, which only reads, on one state of the database."""
        raise NotImplementedError

    def close(self) -> None:
        """Release everything. Closing again does nothing."""
        with self._pools_lock:
            self._closed = True
            pools = (self._writers, self._readers)
        for pool in pools:
            if pool is not None:
                pool.shutdown(wait=True)

    def setup(self, names: TableNames) -> None:
        """Create the tables, or bring them up to date.

        Raises:
            SchemaError: the database holds tables that cannot be used.
        """
        try:
            if not self.read(lambda cursor: schema.is_current(cursor, names)):
                self.write(lambda cursor: schema.migrate(cursor, names))
        except SchemaError as error:
            raise SchemaError(f"{self.where}: {error}") from None

    def pool_for_writes(self) -> ThreadPoolExecutor:
        """Return the pool of async writes. It has one thread, which keeps the order of the
        calls.
        """
        with self._pools_lock:
            self._check_open()
            if self._writers is None:
                self._writers = ThreadPoolExecutor(1, "saverproof-sqlite-writer")
            return self._writers

    def pool_for_reads(self) -> ThreadPoolExecutor:
        """Return the pool of async reads."""
        return self.pool_for_writes()

    def _settled(self) -> sqlite3.Connection:
        """Return the connection for writing, with no transaction of this saver open on it."""
        raise NotImplementedError

    def _settle_after(self, error: Exception) -> None:
        """End the transaction that an error has left open, if it is this saver's."""
        if _BEGUN_BY_ANOTHER in str(error):
            # The owner of a given connection has begun a transaction just before, from another
            # thread.
            self._unsettled = False
        else:
            self._settle()

    def _settle(self) -> None:
        """End the transaction that a failed operation may have left open."""
        raise NotImplementedError

    def _check_open(self) -> None:
        if self._closed:
            raise sqlite3.ProgrammingError(f"{self.where}: the saver is closed")


def plain_cursor(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Return a cursor that gives tuples, whatever row factory the connection has.

    Close it after use.

    A traceback may keep a cursor for long. When the cursor is collected, it resets its statement,
    which later operations share through the connection's cache.
    """
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor
