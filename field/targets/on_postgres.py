"""Savers on PostgreSQL. CockroachDB's is judged on PostgreSQL as well, a stand-in."""

import contextlib
from collections.abc import Iterator
from typing import Any

from saverproof import Postgres
from targets import on_server


@on_server(Postgres(), "greenplum")
@contextlib.contextmanager
def greenplum(dsn: str) -> "Iterator[Any]":
    from langgraph.checkpoint.greenplum import GreenplumSaver

    with GreenplumSaver.from_conn_string(dsn) as saver:
        saver.setup()
        yield saver


@on_server(Postgres(), "timescale")
@contextlib.contextmanager
def timescale(dsn: str) -> "Iterator[Any]":
    from langgraph_checkpoint_timeseries.timescale import TimescaleDBSaver

    with TimescaleDBSaver.from_conn_string(dsn, min_size=1, max_size=4) as saver:
        saver.setup()
        yield saver


@on_server(Postgres(), "cockroachdb")
@contextlib.contextmanager
def cockroachdb(dsn: str) -> "Iterator[Any]":
    from langchain_cockroachdb import CockroachDBSaver
    from psycopg.types.json import Jsonb

    # CockroachDB takes an array of rows, which PostgreSQL refuses: the same pairs go as JSON.
    pairs = "IN (SELECT pair->>0, pair->>1 FROM jsonb_array_elements(%s) pair)"
    query = CockroachDBSaver.SELECT_BLOBS_SQL.replace("= ANY(%s)", pairs)
    with CockroachDBSaver.from_conn_string(dsn) as saver:
        saver.SELECT_BLOBS_SQL = query
        saver._get_channel_version_pairs = lambda checkpoint: Jsonb(
            [list(pair) for pair in (checkpoint.get("channel_versions") or {}).items()]
        )
        saver.setup()
        yield saver


@on_server(Postgres(), "cloud-sql-pg")
@contextlib.contextmanager
def cloud_sql_pg(dsn: str) -> "Iterator[Any]":
    from langchain_google_cloud_sql_pg import PostgresEngine, PostgresSaver
    from sqlalchemy.exc import ProgrammingError

    engine = PostgresEngine.from_engine_args(dsn.replace("postgresql:", "postgresql+asyncpg:"))
    with contextlib.suppress(ProgrammingError):  # the tables are there
        engine.init_checkpoint_table()
    yield PostgresSaver.create_sync(engine)
    engine._run_as_sync(engine.close())


@on_server(Postgres(), "alloydb-pg")
@contextlib.contextmanager
def alloydb_pg(dsn: str) -> "Iterator[Any]":
    from langchain_google_alloydb_pg import AlloyDBEngine, AlloyDBSaver
    from sqlalchemy.exc import ProgrammingError

    engine = AlloyDBEngine.from_engine_args(dsn.replace("postgresql:", "postgresql+asyncpg:"))
    with contextlib.suppress(ProgrammingError):  # the tables are there
        engine.init_checkpoint_table()
    yield AlloyDBSaver.create_sync(engine)
    engine._run_as_sync(engine.close())
