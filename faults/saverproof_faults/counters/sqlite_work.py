"""Count the work that SQLite reports for each statement."""

from saverproof_faults.sqlite.handles import WatchedConnection
from saverproof_faults.sqlite.listener import Listener

FULL_SCAN_STEPS, SORTS, AUTOMATIC_INDEX, VM_STEPS = 1, 2, 3, 4
"""SQLite's constants SQLITE_STMTSTATUS_FULLSCAN_STEP, _SORT, _AUTOINDEX and _VM_STEP."""


class SqliteWork(Listener):
    """A listener that adds up the work of statements when they end.

    ``statements`` counts those that began, ``steps`` the instructions of SQLite's virtual machine,
    ``scanned`` the rows that were visited without an index, and ``sorts`` the sorts and the indexes
    that were made for one statement alone.
    """

    ends = True

    def __init__(self) -> None:
        self.statements = 0
        self.steps = 0
        self.scanned = 0
        self.sorts = 0

    def began(self, connection: WatchedConnection, number: int, statement: int) -> None:
        self.statements += 1
        # It may have run before, unheard.
        self._status(connection, statement, VM_STEPS)
        self._status(connection, statement, FULL_SCAN_STEPS)
        self._status(connection, statement, SORTS)
        self._status(connection, statement, AUTOMATIC_INDEX)

    def ended(self, connection: WatchedConnection, statement: int) -> None:
        self.steps += self._status(connection, statement, VM_STEPS)
        self.scanned += self._status(connection, statement, FULL_SCAN_STEPS)
        self.sorts += self._status(connection, statement, SORTS)
        self.sorts += self._status(connection, statement, AUTOMATIC_INDEX)

    def _status(self, connection: WatchedConnection, statement: int, what: int) -> int:
        """Return what the statement has counted since the last call, and reset that count."""
        return int(connection.library.quick.sqlite3_stmt_status(statement, what, 1))
