"""Ready targets for savers that talk to a server, which the kit starts or gets the address of.

Each is a function of a DSN. Scripts open the saver by the text of that function, which therefore
imports what it uses; the distributions are optional.
"""

import contextlib
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

from saverproof import (
    Capability,
    MariaDB,
    PgBouncer,
    Postgres,
    PostgresSchemas,
    Redis,
    RedisStack,
    ServerKind,
    Target,
    Valkey,
    target,
)

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

Opens: TypeAlias = Callable[[str], AbstractContextManager[Any] | AbstractAsyncContextManager[Any]]


def _on(
    server: ServerKind, name: str, capabilities: Mapping[Capability, str] | None = None
) -> Callable[[Opens], Target]:
    """Turn a function that takes the DSN of its workspace into a target."""

    def made(opens: Opens) -> Target:
        source = inspect.getsource(opens)
        text = source[source.index("@contextlib.") :]
        decorate = target(
            name=name,
            server=server,
            capabilities=capabilities,
            opening=f"import contextlib\n{text}{opens.__name__}(dsn)",
        )
        return decorate(lambda workspace: opens(workspace.dsn))

    return made


@_on(Postgres(), "langgraph-postgres")
@contextlib.contextmanager
def langgraph_postgres(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver on one connection, sync API.
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver


@_on(Postgres(), "langgraph-postgres-pool")
@contextlib.contextmanager
def langgraph_postgres_pool(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver on a pool of connections, sync API.
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool

    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: ConnectionPool[Any] = ConnectionPool(dsn, min_size=1, max_size=4, kwargs=settings)
    with pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver


@_on(PgBouncer(), "langgraph-postgres-pgbouncer")
@contextlib.contextmanager
def langgraph_postgres_pgbouncer(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver behind PgBouncer in transaction mode, which knows no prepared
    # statements: from_conn_string would prepare each one; sync API.
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg import Connection
    from psycopg.rows import dict_row

    with Connection.connect(
        dsn, autocommit=True, prepare_threshold=None, row_factory=dict_row
    ) as connection:
        saver = PostgresSaver(connection)
        saver.setup()
        yield saver


@_on(PgBouncer(), "langgraph-postgres-pgbouncer-async")
@contextlib.asynccontextmanager
async def langgraph_postgres_pgbouncer_async(
    dsn: str,
) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver behind PgBouncer in transaction mode, async API.
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import AsyncConnection
    from psycopg.rows import dict_row

    async with await AsyncConnection.connect(
        dsn, autocommit=True, prepare_threshold=None, row_factory=dict_row
    ) as connection:
        saver = AsyncPostgresSaver(connection)
        await saver.setup()
        yield saver


@_on(PostgresSchemas(), "langgraph-postgres-search-path")
@contextlib.contextmanager
def langgraph_postgres_search_path(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver in a tenant's schema, which the DSN makes the search_path: it
    # has no setting for that; sync API.
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver


@_on(Postgres(), "langgraph-postgres-pipeline")
@contextlib.contextmanager
def langgraph_postgres_pipeline(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver in pipeline mode, in which it cannot set up; sync API.
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
    with PostgresSaver.from_conn_string(dsn, pipeline=True) as saver:
        yield saver


@_on(
    Postgres(),
    "langgraph-postgres-shallow",
    {
        Capability.HISTORY: "it keeps the newest checkpoint of a thread alone, by design",
        Capability.EARLY_WRITES: "writes belong to the checkpoint that is there",
    },
)
@contextlib.contextmanager
def langgraph_postgres_shallow(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver of newest checkpoints, which is deprecated; sync API.
    from langgraph.checkpoint.postgres.shallow import ShallowPostgresSaver

    with ShallowPostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver


@_on(Postgres(), "langgraph-postgres-async")
@contextlib.asynccontextmanager
async def langgraph_postgres_async(dsn: str) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    # The official PostgreSQL saver on one connection, async API.
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(dsn) as saver:
        await saver.setup()
        yield saver


@_on(MariaDB(), "langgraph-mysql")
@contextlib.contextmanager
def langgraph_mysql(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The saver of langgraph-checkpoint-mysql on PyMySQL, sync API.
    from langgraph.checkpoint.mysql.pymysql import PyMySQLSaver

    with PyMySQLSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver


@_on(MariaDB(), "langgraph-mysql-async")
@contextlib.asynccontextmanager
async def langgraph_mysql_async(dsn: str) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    # The saver of langgraph-checkpoint-mysql on aiomysql, async API.
    from langgraph.checkpoint.mysql.aio import AIOMySQLSaver

    async with AIOMySQLSaver.from_conn_string(dsn) as saver:
        await saver.setup()
        yield saver


@_on(MariaDB(), "langgraph-mysql-asyncmy")
@contextlib.asynccontextmanager
async def langgraph_mysql_asyncmy(dsn: str) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    # The saver of langgraph-checkpoint-mysql on asyncmy, async API.
    from langgraph.checkpoint.mysql.asyncmy import AsyncMySaver

    async with AsyncMySaver.from_conn_string(dsn) as saver:
        await saver.setup()
        yield saver


@contextlib.contextmanager
def plain_redis(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # langgraph-checkpoint-plainredis, which needs no module of Redis, sync API.
    from langgraph_checkpoint_plainredis import RedisSaver

    with contextlib.closing(RedisSaver(url=dsn)) as saver:
        yield saver


plainredis = _on(Redis(), "plainredis")(plain_redis)
valkey = _on(Valkey(), "valkey")(plain_redis)


@_on(RedisStack(), "langgraph-redis")
@contextlib.contextmanager
def langgraph_redis(dsn: str) -> "Iterator[BaseCheckpointSaver[Any]]":
    # The saver of langgraph-checkpoint-redis, which needs the modules JSON and Search, sync API.
    from langgraph.checkpoint.redis import RedisSaver

    with RedisSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver


@_on(RedisStack(), "langgraph-redis-async")
@contextlib.asynccontextmanager
async def langgraph_redis_async(dsn: str) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    # The saver of langgraph-checkpoint-redis, which needs the modules JSON and Search, async API.
    from langgraph.checkpoint.redis.aio import AsyncRedisSaver

    async with AsyncRedisSaver.from_conn_string(dsn) as saver:
        await saver.asetup()
        yield saver


@_on(Redis(), "plainredis-async")
@contextlib.asynccontextmanager
async def plainredis_async(dsn: str) -> "AsyncIterator[BaseCheckpointSaver[Any]]":
    # langgraph-checkpoint-plainredis, which needs no module of Redis, async API.
    from langgraph_checkpoint_plainredis import AsyncRedisSaver

    async with contextlib.aclosing(AsyncRedisSaver(url=dsn)) as saver:
        yield saver
