"""MariaDB and MySQL as kinds of servers: each store has a database."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from saverproof_faults.servers import mariadb_kept
from saverproof_faults.servers.kinds import (
    Places,
    RunningServer,
    ServerKind,
    ServerWork,
    Way,
    driver,
    where,
    within,
)
from saverproof_faults.servers.mariadb import MariaDbServer
from saverproof_faults.servers.mariadb_work import MariaDbWork
from saverproof_faults.servers.mariadb_writes import FailingRows
from saverproof_faults.servers.server import ServerError, ServerUnavailable

_QUICK = {
    # Data of a killed process is in the system's cache, and safe there: only a power cut would lose
    # it.
    "innodb-flush-log-at-trx-commit": "2",
    "innodb-flush-method": "nosync",
    "max-connections": "200",
    "sync-frm": "0",
    # The server counts the rows that are read, for each table.
    "userstat": "1",
}
_PATIENCE_S = 10
"""Seconds for the server to take a connection, or to end sessions."""
_PAUSE_S = 0.003
"""Seconds between two looks for sessions that still end."""
_SESSIONS = "SELECT id FROM information_schema.processlist WHERE db = %s"


@dataclass(frozen=True, slots=True)
class MariaDB(ServerKind):
    """MariaDB or MySQL. Each workspace is a database of its own; ``workspace.dsn`` is its URL."""

    title = "MariaDB"
    schemes = ("mysql", "mariadb")
    variable = "SAVERPROOF_MARIADB_DSN"
    promise = (
        "innodb-flush-log-at-trx-commit=2: a commit that it has answered outlives its process, not "
        "a power cut"
    )

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[RunningServer]:
        with MariaDbServer(scratch=scratch, settings=_QUICK) as server:
            yield server

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        with closing(_databases(dsn)) as places:
            yield places

    @contextmanager
    def work(self, dsn: str) -> Iterator[ServerWork]:
        with closing(_databases(dsn)) as places:
            yield MariaDbWork(places.run, urlsplit(dsn).path.strip("/"))

    def bytes_kept(self, dsn: str) -> int:
        with closing(_databases(dsn)) as places:
            return places.bytes_kept(urlsplit(dsn).path.strip("/"))


def _databases(dsn: str) -> _Databases:
    pymysql = driver("pymysql", "PyMySQL")
    url = urlsplit(dsn)
    connect = partial(
        pymysql.connect,
        host=url.hostname or "localhost",
        port=url.port or 3306,
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        autocommit=True,
        connect_timeout=_PATIENCE_S,
    )
    try:
        return _Databases(dsn, connect, pymysql.MySQLError)
    except pymysql.MySQLError as error:
        raise ServerUnavailable(f"MariaDB at {where(dsn)}: {error.args[-1]}") from None


class _Databases:
    ahead = 4
    ways, for_all = FailingRows.WAYS, False

    def __init__(self, dsn: str, connect: Callable[[], Any], errors: type[Exception]) -> None:
        self._dsn = dsn
        self._connect = connect
        self._connection = connect()
        self._errors = errors
        self._rows = FailingRows(self.run)
        self.version = str(self._connection.get_server_info())

    def make(self, name: str) -> str:
        # A server with default settings stores no character beyond latin1 unless it is told to.
        self.run(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
        return within(self._dsn, name)

    def drop(self, name: str) -> None:
        # Dropping a database waits for every open transaction in it.
        self.end_sessions(name)
        self.run(f"DROP DATABASE IF EXISTS `{name}`")

    def end_sessions(self, name: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while sessions := self.run(_SESSIONS, name):
            for (session,) in sessions:
                with suppress(self._errors):
                    self.run(f"KILL CONNECTION {int(session)}")
            if time.monotonic() > deadline:
                raise ServerError("a session in the place has not ended")
            time.sleep(_PAUSE_S)

    def reconnect(self) -> None:
        with suppress(self._errors):
            self._connection.close()
        self._connection = self._connect()

    def close(self) -> None:
        """Close the connection."""
        with suppress(self._errors):
            self._rows.close()
        with suppress(self._errors):
            self._connection.close()

    def bytes_kept(self, name: str) -> int:
        try:
            return mariadb_kept.bytes_kept(self.run, name)
        except self._errors as error:
            said = error.args[-1]
            raise ServerUnavailable(f"MariaDB does not tell what it keeps: {said}") from None

    def watch_writes(self, name: str) -> None:
        self._rows.watch(name)

    def written(self, name: str) -> list[str]:
        return self._rows.written(name)

    def fail_write(self, name: str, number: int, how: Way, what: str) -> None:
        self._rows.fail(name, number, how)

    def has_failed(self, name: str) -> bool:
        return self._rows.has_failed(name)

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())
