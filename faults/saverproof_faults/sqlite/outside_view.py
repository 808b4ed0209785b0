"""A database as other connections see it: by a second, raw connection that never waits."""

import hashlib
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from saverproof_faults.sqlite import raw
from saverproof_faults.sqlite.watch import Watch


@dataclass(frozen=True, slots=True)
class TableView:
    """The number of rows of a table, and a digest of them that does not depend on their order."""

    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class OutsideView:
    """One look at a database from outside.

    ``problem`` is SQLite's message if the tables could not be read.
    """

    write_locked: bool
    tables: Mapping[str, TableView]
    problem: str = ""

    def changed(self, other: "OutsideView") -> tuple[str, ...]:
        """Return the tables that differ between two looks, or that only one of them has."""
        names = sorted({*self.tables, *other.tables})
        return tuple(name for name in names if self.tables.get(name) != other.tables.get(name))


def outside_view(path: str) -> OutsideView:
    """Return whether anyone holds the write lock of a file, and what a reader finds in it."""
    with raw.connection(path) as connection:
        locked = _write_locked(connection)
        try:
            return OutsideView(locked, _tables(connection))
        except sqlite3.DatabaseError as problem:
            return OutsideView(locked, {}, str(problem))


def write_locked(path: str) -> bool:
    """Return whether some connection, of any process, keeps all others from writing.

    A damaged file counts as not locked.
    """
    with raw.connection(path) as connection:
        return _write_locked(connection)


def commit_elsewhere(path: str, patience_s: float = 0) -> None:
    """Commit a transaction that changes nothing, as another process may at any time.

    A connection that kept a reading transaction open sees an old state from then on. A damaged file
    takes no commit, and is left as it is.

    Raises:
        sqlite3.OperationalError: the file is still locked after ``patience_s`` seconds.
    """
    with raw.connection(path) as connection:
        connection.execute(f"PRAGMA busy_timeout = {patience_s * 1_000:.0f}")
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute(f"PRAGMA user_version = {version}")
        except sqlite3.DatabaseError as problem:
            if not _is_damage(problem):
                raise


def open_transactions(watch: Watch) -> tuple[str, ...]:
    """Describe the connections that have a transaction open: number, file, how far it has got."""
    return tuple(
        f"connection {connection.number} to {connection.path or 'a database in memory'} "
        f"({_HOW_FAR[connection.transaction_state]})"
        for connection in watch.visited()
        if connection.in_transaction
    )


_HOW_FAR = ("begun only", "reading", "holding the write lock")


def _write_locked(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as problem:
        if problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            return True
        if _is_damage(problem):
            return False
        raise
    connection.execute("ROLLBACK")
    return False


def _is_damage(problem: sqlite3.DatabaseError) -> bool:
    return problem.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _tables(connection: sqlite3.Connection) -> dict[str, TableView]:
    connection.execute("BEGIN")
    try:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
        return {name: _table(connection, name) for (name,) in names}
    finally:
        connection.execute("ROLLBACK")


def _table(connection: sqlite3.Connection, name: str) -> TableView:
    quoted = '"' + name.replace('"', '""') + '"'
    rows = sorted(_encoded(row) for row in connection.execute(f"SELECT * FROM {quoted}"))
    digest = hashlib.sha256()
    for row in rows:
        digest.update(len(row).to_bytes(8, "big"))
        digest.update(row)
    return TableView(len(rows), digest.hexdigest())


def _encoded(row: tuple[Any, ...]) -> bytes:
    # repr distinguishes 1, 1.0, '1' and b'1', and None and 'None'.
    return repr(row).encode("utf-8", "surrogatepass")
