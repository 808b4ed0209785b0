"""Ready targets for savers that talk to a server, which the kit starts or is told of."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from saverproof import MariaDB, Postgres, Redis, Valkey, Workspace, target

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver


_PLAIN_REDIS = """\
from contextlib import contextmanager
from langgraph_checkpoint_plainredis import RedisSaver
@contextmanager
def plain_redis(dsn):
    saver = RedisSaver(url=dsn)
    try:
        yield saver
    finally:
        saver.close()
plain_redis(dsn)"""


@contextlib.contextmanager
def _plain_redis(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    from langgraph_checkpoint_plainredis import RedisSaver

    saver = RedisSaver(url=dsn)
    try:
        yield saver
    finally:
        saver.close()


@target(
    name="langgraph-postgres",
    server=Postgres(),
    opening="""\
from contextlib import contextmanager
from langgraph.checkpoint.postgres import PostgresSaver
@contextmanager
def postgres(dsn):
    with PostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver
postgres(dsn)""",
)
@contextlib.contextmanager
def langgraph_postgres(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """The official PostgreSQL saver on one connection, sync API."""
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(workspace.dsn) as saver:
        saver.setup()
        yield saver


@target(
    name="langgraph-postgres-pool",
    server=Postgres(),
    opening="""\
from contextlib import contextmanager
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
@contextmanager
def postgres(dsn):
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    with ConnectionPool(dsn, min_size=1, max_size=4, kwargs=settings) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver
postgres(dsn)""",
)
@contextlib.contextmanager
def langgraph_postgres_pool(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """The official PostgreSQL saver on a pool of connections, sync API."""
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool

    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: ConnectionPool[Any] = ConnectionPool(
        workspace.dsn, min_size=1, max_size=4, kwargs=settings
    )
    with pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver


@target(
    name="langgraph-mysql",
    server=MariaDB(),
    opening="""\
from contextlib import contextmanager
from langgraph.checkpoint.mysql.pymysql import PyMySQLSaver
@contextmanager
def mysql(dsn):
    with PyMySQLSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver
mysql(dsn)""",
)
@contextlib.contextmanager
def langgraph_mysql(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """The saver of langgraph-checkpoint-mysql on PyMySQL, sync API."""
    from langgraph.checkpoint.mysql.pymysql import PyMySQLSaver

    with PyMySQLSaver.from_conn_string(workspace.dsn) as saver:
        saver.setup()
        yield saver


@target(
    name="langgraph-mysql-async",
    server=MariaDB(),
    opening="""\
from contextlib import asynccontextmanager
from langgraph.checkpoint.mysql.aio import AIOMySQLSaver
@asynccontextmanager
async def mysql(dsn):
    async with AIOMySQLSaver.from_conn_string(dsn) as saver:
        await saver.setup()
        yield saver
mysql(dsn)""",
)
@contextlib.asynccontextmanager
async def langgraph_mysql_async(
    workspace: Workspace,
) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    """The saver of langgraph-checkpoint-mysql on aiomysql, async API."""
    from langgraph.checkpoint.mysql.aio import AIOMySQLSaver

    async with AIOMySQLSaver.from_conn_string(workspace.dsn) as saver:
        await saver.setup()
        yield saver


@target(
    name="langgraph-postgres-async",
    server=Postgres(),
    opening="""\
from contextlib import asynccontextmanager
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
@asynccontextmanager
async def postgres(dsn):
    async with AsyncPostgresSaver.from_conn_string(dsn) as saver:
        await saver.setup()
        yield saver
postgres(dsn)""",
)
@contextlib.asynccontextmanager
async def langgraph_postgres_async(
    workspace: Workspace,
) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    """The official PostgreSQL saver on one connection, async API."""
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(workspace.dsn) as saver:
        await saver.setup()
        yield saver


@target(name="plainredis", server=Redis(), opening=_PLAIN_REDIS)
@contextlib.contextmanager
def plainredis(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """langgraph-checkpoint-plainredis, which needs no module of Redis, sync API."""
    with _plain_redis(workspace.dsn) as saver:
        yield saver


@target(
    name="plainredis-async",
    server=Redis(),
    opening="""\
from contextlib import asynccontextmanager
from langgraph_checkpoint_plainredis import AsyncRedisSaver
@asynccontextmanager
async def plain_redis(dsn):
    saver = AsyncRedisSaver(url=dsn)
    try:
        yield saver
    finally:
        await saver.aclose()
plain_redis(dsn)""",
)
@contextlib.asynccontextmanager
async def plainredis_async(workspace: Workspace) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    """The same, async API."""
    from langgraph_checkpoint_plainredis import AsyncRedisSaver

    saver = AsyncRedisSaver(url=workspace.dsn)
    try:
        yield saver
    finally:
        await saver.aclose()


@target(name="valkey", server=Valkey(), opening=_PLAIN_REDIS)
@contextlib.contextmanager
def valkey(workspace: Workspace) -> "Iterator[BaseCheckpointSaver[Any]]":
    """langgraph-checkpoint-plainredis on Valkey."""
    with _plain_redis(workspace.dsn) as saver:
        yield saver
