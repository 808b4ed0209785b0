"""What every store of checkpoints does: each operation one transaction, whatever goes wrong."""

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
"""For a transaction of another thread, which is short; a fork is not held up for ever."""


class Database:
    """Runs work on a database: ``write`` in one immediate transaction, ``read`` in one snapshot.

    Safe among threads. Subclasses say which connection is used.
    """

    where: str
    """What error messages call the database: its path, if it has one."""

    path: str | None
    """The path of the database file; None for a database in memory."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # Held for moments only, so that an event loop may take it.
        self._pools_lock = threading.Lock()
        self._closed = False
        # True from before BEGIN until the transaction is known to have ended. Whatever interrupts
        # an operation, the next one sees it and ends the transaction first.
        self._unsettled = False
        self._inside = False
        self._writers: ThreadPoolExecutor | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._held_for_fork = False
        tell_of_forks(self)

    def before_fork(self) -> None:
        """Let the running write end, and none begin."""
        self._held_for_fork = self._lock.acquire(timeout=_FORK_WAITS_S)

    def after_fork_in_parent(self) -> None:
        """Let the writes go on."""
        if self._held_for_fork:
            self._held_for_fork = False
            self._lock.release()

    def after_fork_in_child(self) -> None:
        """Start anew, where locks may be held by threads that are not there."""
        self._lock = threading.RLock()
        self._pools_lock = threading.Lock()
        self._inside = False
        self._writers = None
        self._readers = None

    def write(self, work: Work[T]) -> T:
        """Do ``work`` in a transaction of its own, which is committed, or else leaves nothing."""
        with self._lock:
            self._check_not_inside()
            try:
                self._inside = True
                try:
                    return self._transact(work)
                except sqlite3.OperationalError as error:
                    if not damaged_text.is_told_by(error):
                        raise
                # Nothing was kept of it.
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
        # finalizer that calls the saver in the middle of one of its operations.
        if self._inside:
            raise sqlite3.ProgrammingError(
                f"{self.where}: the saver was called from inside one of its own operations"
            )

    def read(self, work: Reading[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do ``work(cursor, ...)``, which only reads, and sees one state of the database."""
        raise NotImplementedError

    def close(self) -> None:
        """Release everything; again and again is fine."""
        with self._pools_lock:
            self._closed = True
            pools = (self._writers, self._readers)
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
        with self._pools_lock:
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

    def _settle_after(self, error: Exception) -> None:
        """End the transaction that was left by this error, if it is ours."""
        if _BEGUN_BY_ANOTHER in str(error):
            # The owner of a given connection, from another thread, just before our BEGIN.
            self._unsettled = False
        else:
            self._settle()

    def _settle(self) -> None:
        """End the transaction that a failed operation may have left."""
        raise NotImplementedError

    def _check_open(self) -> None:
        if self._closed:
            raise sqlite3.ProgrammingError(f"{self.where}: the saver is closed")


def plain_cursor(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """A cursor that gives tuples, whatever row factory the connection has; to be closed.

    A traceback may keep it for long, and when it is collected it resets its statement, which the
    next operations share through the connection's cache.
    """
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor
