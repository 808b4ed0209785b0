"""PostgreSQL as a kind of server: each store has a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from saverproof_faults.servers import postgres_kept, postgres_writes
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
from saverproof_faults.servers.postgres import PostgresServer
from saverproof_faults.servers.postgres_work import PostgresWork
from saverproof_faults.servers.server import ServerError, ServerUnavailable

QUICK = {
    # Data of a killed process is in the system's cache, and safe there: only a power cut would lose
    # it.
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "200",
    # A commit that does not wait for the log is lost if the server dies before this time has
    # passed: savers that use such commits are found.
    "wal_writer_delay": "10s",
}
"""The settings of a private server."""
_PATIENCE_S = 10
"""Seconds for the server to take a connection, or to end sessions."""
_CONNECTING: Mapping[str, Any] = {
    "autocommit": True,
    "connect_timeout": _PATIENCE_S,
    # A pooler may stand before the server: it gives each transaction another session.
    "prepare_threshold": None,
}
_WAITS = 140000
"""The first version that can wait until a session has ended."""
_COPIES = 150000
"""The first version that makes a database by copying files; older ones copy it page by page through
the log.
"""
_EMPTY = """
DO $$ DECLARE found text; BEGIN
  FOR found IN SELECT quote_ident(nspname) FROM pg_namespace
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
  LOOP EXECUTE 'DROP SCHEMA ' || found || ' CASCADE'; END LOOP;
  CREATE SCHEMA public;
END $$
"""
_LEFT = " UNION ALL ".join(
    # Objects below this id belong to every new database.
    f"SELECT oid FROM pg_{catalog} WHERE oid >= 16384"
    for catalog in (
        *("class", "proc", "type", "extension", "largeobject_metadata", "event_trigger", "cast"),
        *("publication", "foreign_data_wrapper", "language"),
    )
)
_SETTINGS = (
    "SELECT setdatabase FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase "
    "WHERE datname = current_database()"
)
_TIMES = 30
"""How often a database is used again before it is dropped: its catalogs keep entries of removed
tables, and grow.
"""


@dataclass(frozen=True, slots=True)
class Postgres(ServerKind):
    """PostgreSQL. Each workspace is a database of its own; ``workspace.dsn`` is its URL.

    Args:
        oldest: the oldest major version that will do.
    """

    oldest: int = 13

    title = "PostgreSQL"
    schemes = ("postgresql", "postgres")
    variable = "SAVERPROOF_POSTGRES_DSN"
    promise = "fsync=off: a commit that it has answered outlives its process, not a power cut"

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[RunningServer]:
        with PostgresServer(scratch=scratch, settings=QUICK) as server:
            yield server

    def places(self, dsn: str) -> AbstractContextManager[Places]:
        return self.databases(dsn)

    @contextmanager
    def databases(self, dsn: str) -> Iterator[Databases]:
        """Return the databases of the server at ``dsn`` as places, for the length of a block.

        Raises:
            ServerUnavailable: as ``places`` does.
        """
        with closing(Databases(dsn, connected(dsn, self.title))) as databases:
            self.check(databases)
            yield databases

    def check(self, databases: Databases) -> None:
        """Raise an error if the server is too old.

        Raises:
            ServerUnavailable: it is.
        """
        if databases.number < self.oldest * 10_000:
            raise ServerUnavailable(
                f"PostgreSQL at {where(databases.dsn)}: found version {databases.version}, "
                f"expected {self.oldest} or newer"
            )

    def work(self, dsn: str) -> AbstractContextManager[ServerWork]:
        return _work(dsn, self.title)

    def bytes_kept(self, dsn: str) -> int:
        with closing(connected(dsn, self.title)) as connection:
            return postgres_kept.bytes_kept(connection)


@contextmanager
def _work(dsn: str, title: str) -> Iterator[ServerWork]:
    with closing(connected(dsn, title)) as connection:
        yield PostgresWork(connection)


def connected(dsn: str, title: str) -> Any:
    """Connect to a server, which ``title`` names for people.

    Raises:
        ServerUnavailable: the driver is missing, or the server refuses; the message is one line.
    """
    psycopg = driver("psycopg", "psycopg[binary]")
    try:
        return psycopg.connect(dsn, **_CONNECTING)
    except psycopg.Error as error:
        said = " ".join(str(error).splitlines()[:1]) or type(error).__name__
        raise ServerUnavailable(f"{title} at {where(dsn)}: {said}") from None


class Databases:
    """The databases of a server at ``dsn``; ``connection`` leads to another one of its databases.

    See ``Places``.
    """

    ahead = 4
    ways, for_all = tuple(postgres_writes.WAYS), False

    def __init__(self, dsn: str, connection: Any) -> None:
        self.dsn = dsn
        self._connect = partial(type(connection).connect, **_CONNECTING)
        self._connection = connection
        self.version = str(connection.info.parameter_status("server_version"))
        self.number: int = connection.info.server_version
        """The version as PostgreSQL numbers it: 150018 is 15.18."""
        self._strategy = " STRATEGY file_copy" if self.number >= _COPIES else ""
        self._patience = f", {_PATIENCE_S * 1000}" if self.number >= _WAITS else ""
        self._times: dict[str, int] = {}

    def make(self, name: str) -> str:
        # Nobody can be connected to template0; a connection to a template keeps it from being
        # copied.
        self._connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'{self._strategy}"
        )
        return within(self.dsn, name)

    def drop(self, name: str) -> None:
        self._connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def renew(self, name: str, new: str) -> str | None:
        self._end_sessions(name)
        self._connection.execute(f"ALTER DATABASE {name} RENAME TO {new}")
        times = self._times.pop(name, 1)
        with self.inside(new) as connection:
            connection.execute(_EMPTY)
            left = connection.execute(f"{_LEFT} UNION ALL {_SETTINGS}").fetchall()
        if left or times >= _TIMES:
            self.drop(new)
            return None
        self._times[new] = times + 1
        return within(self.dsn, new)

    def end_sessions(self, name: str) -> None:
        self._end_sessions(name)

    def _end_sessions(self, name: str) -> None:
        self._end("datname = %s", name)

    def end_sessions_of(self, client: str) -> None:
        """End the sessions of clients with this application_name, and wait for that.

        Raises:
            ServerError: they cannot be ended, or there is none.
        """
        if not self._end("application_name = %s", client):
            raise ServerError(f"no session has the application_name {client} of its store's DSN")

    def _end(self, which: str, value: str) -> int:
        """End sessions, and return how many there were."""
        ended = self._connection.execute(
            f"SELECT pg_terminate_backend(pid{self._patience}) FROM pg_stat_activity WHERE {which}",
            (value,),
        )
        return len(ended.fetchall())

    def reconnect(self) -> None:
        self.close()
        self._connection = self._connect(self.dsn)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def watch_writes(self, name: str) -> None:
        with self.inside(name) as connection:
            postgres_writes.watch(connection)

    def written(self, name: str) -> list[str]:
        with self.inside(name) as connection:
            return postgres_writes.written(connection)

    def fail_write(self, name: str, number: int, how: Way, what: str) -> None:
        with self.inside(name) as connection:
            postgres_writes.fail(connection, number, how)

    def has_failed(self, name: str) -> bool:
        with self.inside(name) as connection:
            return postgres_writes.has_failed(connection)

    def inside(self, name: str) -> Any:
        """Return a connection to a place, which is closed when a block of it ends."""
        return self._connect(within(self.dsn, name))
