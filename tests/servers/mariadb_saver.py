"""A right saver on MariaDB, and a wrong one: each operation of the right one is one transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Self
from urllib.parse import urlsplit

import pymysql

from saverproof import MariaDB, Workspace
from saverproof.mistakes.reference.store import CheckpointRow
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target
from tests.reference.sqlite import SqliteReference

_NAME = "VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
TABLES = (
    f"CREATE TABLE IF NOT EXISTS checkpoints (thread {_NAME}, ns {_NAME}, id {_NAME}, "
    f"parent {_NAME}, type TEXT NOT NULL, checkpoint LONGBLOB NOT NULL, "
    "metadata_type TEXT NOT NULL, metadata LONGBLOB NOT NULL, PRIMARY KEY (thread, ns, id))",
    f"CREATE TABLE IF NOT EXISTS writes (thread {_NAME}, ns {_NAME}, id {_NAME}, "
    f"task {_NAME}, position INTEGER, channel TEXT CHARACTER SET utf8mb4 NOT NULL, "
    "type TEXT NOT NULL, value LONGBLOB NOT NULL, path TEXT CHARACTER SET utf8mb4 NOT NULL, "
    "PRIMARY KEY (thread, ns, id, task, position))",
)
_IN_SQLITE = "INSERT OR "
_KEEP = {
    # INSERT IGNORE would also take what is too long, and cut it.
    "IGNORE": ("INSERT", " ON DUPLICATE KEY UPDATE position = position"),
    "REPLACE": ("REPLACE", ""),
}


class Database:
    """A connection and its lock; the connection is made anew when it was lost."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.lock = threading.RLock()
        self.connection = self.connect()
        for table in TABLES:
            self.run(table)

    def connect(self) -> pymysql.Connection[Any]:
        """A new connection, which commits by itself outside of ``writing``."""
        url = urlsplit(self.dsn)
        return pymysql.connect(
            host=str(url.hostname),
            port=int(url.port or 0),
            user=str(url.username),
            password=str(url.password),
            database=url.path[1:],
            charset="utf8mb4",
            autocommit=True,
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it, or nothing and the exception."""
        with self.lock:
            self.reconnect_if_lost()
            self.connection.begin()
            try:
                yield
                self.connection.commit()
            except BaseException:
                self.undo()
                raise

    reading = writing

    def reconnect_if_lost(self) -> None:
        """Connect again after the connection was lost."""
        try:
            self.connection.ping(reconnect=False)
        except pymysql.Error:
            self.connection = self.connect()

    def undo(self) -> None:
        """Roll back; on a connection that is lost, the server does."""
        if self.connection.open:
            try:
                self.connection.rollback()
            except pymysql.Error:
                self.connection.close()

    def run(self, statement: str, *values: Any) -> None:
        """Execute a statement."""
        self.rows(statement, *values)

    def rows(self, statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Execute a statement as SQLite has it; what it gives."""
        statement = _here(statement).replace("?", "%s")
        with self.connection.cursor() as cursor:
            cursor.execute(statement, values)
            return [*cursor.fetchall()]

    def close(self) -> None:
        """Close the connection; any number of times."""
        if self.connection.open:
            self.connection.close()


def _here(statement: str) -> str:
    """A statement in the words of MariaDB."""
    put, _, conflict = statement.partition(" ON CONFLICT")
    if conflict:
        return put.replace("INSERT", "REPLACE")
    if not statement.startswith(_IN_SQLITE):
        return statement
    what, _, rest = statement.removeprefix(_IN_SQLITE).partition(" ")
    verb, end = _KEEP[what]
    return f"{verb} {rest}{end}"


class RightSaver(SqliteReference):
    """The plain saver on MariaDB."""

    database_kind = Database

    def __init__(self, dsn: str, *, serde: Any = None) -> None:
        super(SqliteReference, self).__init__(serde=serde)
        self.database: Any = self.database_kind(dsn)
        self.is_clone = False

    @classmethod
    def on(cls, dsn: str) -> Self:
        """A saver in this database."""
        return cls(dsn)


class CommitsWhatItHas(Database):
    """Takes it that an error has ended the transaction, as PostgreSQL would have."""

    def reconnect_if_lost(self) -> None:
        """Connect again after the connection was lost."""
        try:
            self.connection.ping(reconnect=False)
        except pymysql.Error:
            self.connection = self.connect()

    def undo(self) -> None:
        try:
            self.connection.commit()
        except pymysql.Error:
            self.connection.close()


class HalfCommitting(RightSaver):
    """An operation whose second row is refused leaves its first."""

    database_kind = CommitsWhatItHas


class ScansInTheServer(RightSaver):
    """No index serves these expressions: the server goes through the table."""

    def _find(self, config: Any) -> CheckpointRow | None:
        asked = self._asked_id(config)
        if asked is None:
            return super()._find(config)
        place = (self._thread_of(config), self._get_ns(config))
        rows = self._rows(
            "concat(thread, '') = ? AND concat(ns, '') = ? AND concat(id, '') = ?", *place, asked
        )
        return rows[0] if rows else None


def target_of(saver: type[RightSaver], attribute: str, module: str = __name__) -> Target:
    """A target that opens this saver, an attribute of a module."""

    @contextmanager
    def opened(workspace: Workspace) -> Iterator[RightSaver]:
        with closing(saver.on(workspace.dsn)) as made:
            yield made

    name = attribute.replace("_", "-")
    ref = TargetRef(name, module=module, file=None, attribute=attribute)
    return Target(name=name, open=opened, server=MariaDB(), ref=ref)


right = target_of(RightSaver, "right")
scans = target_of(ScansInTheServer, "scans")
half_committing = target_of(HalfCommitting, "half_committing")
