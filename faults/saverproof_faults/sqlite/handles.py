"""A connection of the program, known by the handle that SQLite gave it."""

import ctypes
from dataclasses import dataclass
from enum import IntEnum

from saverproof_faults.errors import FaultsError
from saverproof_faults.reentrancy import hidden
from saverproof_faults.sqlite.library import OK, ROW, Library, Pointer


class TransactionState(IntEnum):
    """The progress of a transaction: it has done nothing yet, reads, or holds the write lock."""

    NONE = 0
    READ = 1
    WRITE = 2


class Refused(FaultsError):  # noqa: N818 - named by what happened
    """SQLite refused SQL of the fault layer's own; ``code`` is the primary result code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(eq=False, slots=True)
class WatchedConnection:
    """One open connection. Its handle is valid until the watch is told of its end.

    ``number`` counts connections from 1 in the order in which they were opened. ``proxied`` says
    that it was opened through a proxy, so that client-side faults can reach it.
    """

    handle: int
    number: int
    proxied: bool
    timeout_ms: int
    library: Library

    @property
    def path(self) -> str:
        """The file of the main database; empty for a database in memory."""
        name = self.library.calls.sqlite3_db_filename(self.handle, b"main")
        return name.decode() if name else ""

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is open, as SQLite sees it."""
        return not self.library.quick.sqlite3_get_autocommit(self.handle)

    @property
    def transaction_state(self) -> TransactionState:
        """The progress of the open transaction."""
        return TransactionState(max(0, self.library.calls.sqlite3_txn_state(self.handle, None)))

    @property
    def rows_changed(self) -> int:
        """Number of rows inserted, updated or deleted since the connection was opened."""
        return int(self.library.quick.sqlite3_total_changes(self.handle))

    @property
    def error_code(self) -> int:
        """The primary result code of the last call on this connection."""
        return int(self.library.quick.sqlite3_errcode(self.handle)) & 0xFF

    def sql_of(self, statement: int) -> str:
        """Return the text of a statement of this connection, given its handle."""
        text: bytes = self.library.quick.sqlite3_sql(statement)
        return text.decode(errors="replace")

    def run(self, sql: str) -> None:
        """Run statements on the program's own connection, without being watched.

        Raises:
            Refused: SQLite refused one.
        """
        with hidden():
            code = self.library.calls.sqlite3_exec(self.handle, sql.encode(), None, None, None)
        if code != OK:
            raise self._refusal(code, sql)

    def values(self, sql: str) -> list[str]:
        """Return the first column of each row as text, without being watched.

        Raises:
            Refused: SQLite refused the statement.
        """
        calls = self.library.calls
        statement = Pointer()
        with hidden():
            code = calls.sqlite3_prepare_v2(
                self.handle, sql.encode(), -1, ctypes.byref(statement), None
            )
            found: list[str] = []
            if code == OK:
                while (code := calls.sqlite3_step(statement)) == ROW:
                    text = calls.sqlite3_column_text(statement, 0)
                    found.append("" if text is None else text.decode(errors="replace"))
                code = calls.sqlite3_finalize(statement)
        if code != OK:
            raise self._refusal(code, sql)
        return found

    def _refusal(self, code: int, sql: str) -> "Refused":
        message = self.library.calls.sqlite3_errmsg(self.handle).decode(errors="replace")
        return Refused(f"connection {self.number}: {message} [{code}] on: {sql}", code & 0xFF)
