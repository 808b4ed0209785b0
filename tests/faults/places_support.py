"""What tests ask of a place in a server, whatever its kind."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pymysql
import pytest
import redis

from saverproof_faults.servers import (
    KeptServer,
    MariaDB,
    Postgres,
    Redis,
    ServerKind,
    ServerUnavailable,
    Valkey,
    serving,
)


class InSql:
    """What the tests ask of an SQL database."""

    def __init__(self, connection: Any, databases: str) -> None:
        self._connection = connection
        self._databases = databases

    def run(self, statement: str) -> list[Any]:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(statement)
            return [] if cursor.description is None else [row[0] for row in cursor.fetchall()]

    def write(self) -> None:
        self.run("CREATE TABLE t (x INT)")

    def is_empty(self) -> bool:
        try:
            self.run("SELECT x FROM t")
        except (psycopg.Error, pymysql.MySQLError):
            return True
        return False

    def others(self) -> set[str]:
        return set(self.run(self._databases))

    def close(self) -> None:
        self._connection.close()


class InRedis:
    """The same of Redis."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def write(self) -> None:
        self._client.set("x", 1)

    def is_empty(self) -> bool:
        return bool(self._client.dbsize() == 0)

    def others(self) -> set[str]:
        return set(self._client.info("keyspace"))

    def close(self) -> None:
        self._client.close()


def in_postgres(dsn: str) -> InSql:
    connection = psycopg.connect(dsn, autocommit=True)
    return InSql(connection, "SELECT datname FROM pg_database WHERE datname LIKE 'sp%'")


def in_mariadb(dsn: str) -> InSql:
    url = urlsplit(dsn)
    connection = pymysql.connect(
        host=str(url.hostname),
        port=int(url.port or 0),
        user=str(url.username),
        password=str(url.password),
        database=url.path[1:],
    )
    return InSql(connection, "SHOW DATABASES LIKE 'sp%'")


def in_redis(dsn: str) -> InRedis:
    return InRedis(redis.Redis.from_url(dsn))


CLIENTS: dict[ServerKind, Callable[[str], Any]] = {
    Postgres(): in_postgres,
    MariaDB(): in_mariadb,
    Redis(): in_redis,
    Valkey(): in_redis,
}


@contextmanager
def there(kind: ServerKind) -> Iterator[KeptServer]:
    """A server of this kind for the tests of a module."""
    try:
        with serving(kind) as kept:
            yield kept
    except ServerUnavailable as reason:
        pytest.skip(str(reason))
