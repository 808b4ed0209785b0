"""MariaDB and MySQL as servers for stores: a database for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from saverproof_faults.servers.kinds import Places, RunningServer, ServerKind, driver, where, within
from saverproof_faults.servers.mariadb import MariaDbServer
from saverproof_faults.servers.server import ServerUnavailable

_QUICK = {
    # What a process leaves that is killed is in the system's hands; only a power cut would tell.
    "innodb-flush-log-at-trx-commit": "2",
    "innodb-flush-method": "nosync",
    "max-connections": "200",
}
_PATIENCE_S = 10


@dataclass(frozen=True, slots=True)
class MariaDB(ServerKind):
    """MariaDB or MySQL: each workspace is a database of its own, ``workspace.dsn`` its URL."""

    title = "MariaDB"
    schemes = ("mysql", "mariadb")
    variable = "SAVERPROOF_MARIADB_DSN"

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[RunningServer]:
        with MariaDbServer(scratch=scratch, settings=_QUICK) as server:
            yield server

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        pymysql = driver("pymysql", "PyMySQL")
        url = urlsplit(dsn)
        try:
            connection = pymysql.connect(
                host=url.hostname or "localhost",
                port=url.port or 3306,
                user=unquote(url.username or ""),
                password=unquote(url.password or ""),
                autocommit=True,
                connect_timeout=_PATIENCE_S,
            )
        except pymysql.MySQLError as error:
            raise ServerUnavailable(f"MariaDB at {where(dsn)}: {error.args[-1]}") from None
        try:
            yield _Databases(dsn, connection, pymysql.MySQLError)
        finally:
            with suppress(pymysql.MySQLError):
                connection.close()


class _Databases:
    ahead = 4

    def __init__(self, dsn: str, connection: Any, errors: type[Exception]) -> None:
        self._dsn = dsn
        self._connection = connection
        self._errors = errors
        self.version = str(connection.get_server_info())

    def make(self, name: str) -> str:
        self._run(f"CREATE DATABASE `{name}`")
        return within(self._dsn, name)

    def drop(self, name: str) -> None:
        # Whoever has a transaction open there would be waited for.
        self.end_sessions(name)
        self._run(f"DROP DATABASE IF EXISTS `{name}`")

    def end_sessions(self, name: str) -> None:
        for (session,) in self._run(
            "SELECT id FROM information_schema.processlist WHERE db = %s", name
        ):
            with suppress(self._errors):
                self._run(f"KILL CONNECTION {int(session)}")

    def _run(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())
