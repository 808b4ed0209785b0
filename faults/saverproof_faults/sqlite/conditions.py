"""States of a database in which SQLite refuses statements: locked by another, full, read-only."""

import sqlite3

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.kinds import Fault, Lasts
from saverproof_faults.sqlite import hooks, raw
from saverproof_faults.sqlite.enginefault import EngineFault
from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.library import BUSY, FULL, READONLY
from saverproof_faults.sqlite.watch import Watch

TAKE = {
    Fault.LOCKED: "BEGIN IMMEDIATE",
    Fault.BUSY_COMMIT: "BEGIN; SELECT count(*) FROM sqlite_master",
}
"""The statements by which another connection takes a lock: the write lock, or a reader's."""


class LockHeld(EngineFault):
    """A lock that a second connection takes just before a statement runs.

    ``Lasts.ONCE`` holds it until the program was refused, ``Lasts.ONWARDS`` until ``heal``. The
    program's connections give up at once and not after their busy timeout; ``heal`` sets the
    timeout again.
    """

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        super().__init__(armed, watch)
        self._holder: sqlite3.Connection | None = None
        self._timeouts: dict[int, int] = {}
        self._touched: set[int] = set()

    def arm(self) -> None:
        for connection in self.watch.visited():
            self._timeouts[connection.handle] = int(connection.values("PRAGMA busy_timeout")[0])

    def opened(self, connection: WatchedConnection) -> None:
        self._timeouts[connection.handle] = connection.timeout_ms

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        if self._holder is None and self.at_place(number):
            self._take(connection.path)
        if self._holder is not None:
            self._touched.add(connection.handle)
            # The program may set its timeout at any time: this is repeated at each statement.
            connection.library.calls.sqlite3_busy_handler(
                connection.handle, hooks.waiting, connection.handle
            )

    def waiting(self, connection: WatchedConnection) -> None:
        self._refused()

    def failed(self, error_code: int) -> None:
        # SQLite calls no busy handler where waiting could not help.
        if error_code == BUSY and self._holder is not None:
            self._refused()

    def heal(self) -> None:
        self._release()
        super().heal()

    def undo(self, connection: WatchedConnection) -> None:
        timeout = self._timeouts.get(connection.handle)
        if timeout is not None and connection.handle in self._touched:
            connection.library.calls.sqlite3_busy_timeout(connection.handle, timeout)

    def _take(self, path: str) -> None:
        if not path:
            self.armed.note = "a database in memory cannot be locked by another connection"
            return
        holder = raw.opened(path)
        try:
            for sql in TAKE[self.armed.plan.fault].split(";"):
                holder.execute(sql).fetchall()
        except sqlite3.Error as problem:
            holder.close()
            self.armed.note = f"the other connection could not take its lock ({problem})"
        else:
            self._holder = holder

    def _refused(self) -> None:
        self.armed.fire()
        if self.armed.plan.lasts is Lasts.ONCE:
            self._release()

    def _release(self) -> None:
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.close()


class ReadOnly(EngineFault):
    """``PRAGMA query_only`` on every connection: each statement that writes is refused."""

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        super().__init__(armed, watch)
        self._previous: dict[int, str] = {}

    def apply(self, connection: WatchedConnection) -> None:
        self._previous[connection.handle] = connection.values("PRAGMA query_only")[0]
        connection.run("PRAGMA query_only = 1")

    def undo(self, connection: WatchedConnection) -> None:
        previous = self._previous.get(connection.handle)
        if previous is not None:
            connection.run(f"PRAGMA query_only = {previous}")

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        if not connection.library.quick.sqlite3_stmt_readonly(statement):
            self.armed.fire()

    def failed(self, error_code: int) -> None:
        if error_code == READONLY:
            self.armed.fire()


class DiskFull(EngineFault):
    """``PRAGMA max_page_count`` at the present size: no database file can grow."""

    def __init__(self, armed: ArmedPlan, watch: Watch) -> None:
        super().__init__(armed, watch)
        self._previous: dict[int, str] = {}

    def apply(self, connection: WatchedConnection) -> None:
        self._previous[connection.handle] = connection.values("PRAGMA max_page_count")[0]
        pages = max(1, int(connection.values("PRAGMA page_count")[0]))
        connection.run(f"PRAGMA max_page_count = {pages}")

    def undo(self, connection: WatchedConnection) -> None:
        if connection.error_code == FULL:
            self.armed.fire()
        previous = self._previous.get(connection.handle)
        if previous is not None:
            connection.run(f"PRAGMA max_page_count = {previous}")

    def failed(self, error_code: int) -> None:
        if error_code == FULL:
            self.armed.fire()
