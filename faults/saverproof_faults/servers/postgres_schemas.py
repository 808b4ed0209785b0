"""PostgreSQL with a schema for each store, as owners of many tenants have it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from saverproof_faults.servers.kinds import Places, RunningServer, ServerWork
from saverproof_faults.servers.pgbouncer_places import PgBouncer
from saverproof_faults.servers.postgres_places import Databases, Postgres
from saverproof_faults.servers.server import ServerError, ServerUnavailable

_SHARED = "the schemas of other stores are in the same database, and what they do is counted there"


@dataclass(frozen=True, slots=True)
class PostgresSchemas(Postgres):
    """PostgreSQL. Each workspace is a schema, and all schemas are in one database.

    ``workspace.dsn`` makes the schema its sessions' search_path, by ``options``.
    """

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        with self.databases(dsn) as databases, closing(_Schemas(databases)) as schemas:
            yield schemas

    def work(self, dsn: str) -> AbstractContextManager[ServerWork]:
        raise ServerUnavailable(_SHARED)

    def bytes_kept(self, dsn: str) -> int:
        raise ServerUnavailable(_SHARED)


@dataclass(frozen=True, slots=True)
class PgBouncerSchemas(PgBouncer):
    """The same behind PgBouncer in transaction mode, which lets a client ask for a search_path and
    forgets it.
    """

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        self.check_pooler(dsn)
        with self.databases(dsn) as databases, closing(_Schemas(databases)) as schemas:
            yield schemas

    @contextmanager
    def places_in(self, server: RunningServer, dsn: str) -> Iterator[Places]:
        with self.databases_in(server, dsn) as databases, closing(_Schemas(databases)) as schemas:
            yield schemas

    def bytes_kept(self, dsn: str) -> int:
        raise ServerUnavailable(_SHARED)


class _Schemas:
    """The schemas of one database, which is made for them and dropped at the end."""

    ahead = 4

    def __init__(self, databases: Databases) -> None:
        self.version = databases.version
        self._databases = databases
        self._database = f"sp_tenants_{secrets.token_hex(4)}"
        self._shown = databases.make(self._database)
        try:
            self._connection = databases.inside(self._database)
        except BaseException:
            databases.drop(self._database)
            raise

    def make(self, name: str) -> str:
        self._connection.execute(f"CREATE SCHEMA {name}")
        url = urlsplit(self._shown)
        asked = dict(parse_qsl(url.query))
        asked["options"] = f"{asked.get('options', '')} -c search_path={name}".strip()
        # All sessions are of one user in one database, so only this name tells them apart.
        asked["application_name"] = name
        return url._replace(query=urlencode(asked, quote_via=quote)).geturl()

    def drop(self, name: str) -> None:
        with suppress(ServerError):
            self.end_sessions(name)
        self._connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")

    def end_sessions(self, name: str) -> None:
        self._databases.end_sessions_of(name)

    def reconnect(self) -> None:
        self._databases.reconnect()
        self._connection.close()
        self._connection = self._databases.inside(self._database)

    def close(self) -> None:
        """Drop the database."""
        self._connection.close()
        self._databases.drop(self._database)
