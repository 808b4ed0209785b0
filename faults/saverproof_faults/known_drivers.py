"""The drivers that need no declaration, and which of them are loaded."""

import sys
from collections.abc import Mapping

from saverproof_faults.drivers import EXECUTE, PIPELINE, SQLITE3, ClassDriver, Driver
from saverproof_faults.kinds import Event

_IN_TRANSACTIONS = {"begin": Event.BEGIN, "commit": Event.COMMIT, "rollback": Event.ROLLBACK}

PSYCOPG = ClassDriver(
    name="psycopg",
    modules=("psycopg",),
    errors="psycopg.errors",
    methods={
        f"psycopg:{prefix}{suffix}": manner
        for prefix in ("", "Async")
        for suffix, manner in {
            "Cursor.execute": EXECUTE,
            # psycopg sends a batch as one pipeline, which succeeds or fails as a whole: no row
            # fails by itself.
            "Cursor.executemany": EXECUTE,
            "Connection.commit": Event.COMMIT.value,
            "Connection.rollback": Event.ROLLBACK.value,
        }.items()
    }
    | {
        "psycopg:Transaction.__exit__": "leave",
        "psycopg:AsyncTransaction.__aexit__": "leave",
    },
    refused="SELECT refused_on_purpose",
)

PYMYSQL = ClassDriver(
    name="pymysql",
    modules=("pymysql",),
    errors="pymysql.err",
    # A batch is made of calls of execute. The server answers a refusal by undoing that statement
    # alone: nothing has to be sent to leave behind what it would.
    methods={"pymysql.cursors:Cursor.execute": EXECUTE}
    | {
        f"pymysql.connections:Connection.{name}": event.value
        for name, event in _IN_TRANSACTIONS.items()
    },
)
AIOMYSQL = ClassDriver(
    name="aiomysql",
    modules=("aiomysql",),
    errors="pymysql.err",
    methods={"aiomysql.cursors:Cursor.execute": EXECUTE}
    | {
        f"aiomysql.connection:Connection.{name}": event.value
        for name, event in _IN_TRANSACTIONS.items()
    },
)

ASYNCMY = ClassDriver(
    name="asyncmy",
    modules=("asyncmy",),
    errors="asyncmy.errors",
    # asyncmy's cursors are compiled and cannot be patched; all their statements pass this method.
    methods={"asyncmy.connection:Connection.query": EXECUTE}
    | {
        f"asyncmy.connection:Connection.{name}": event.value
        for name, event in _IN_TRANSACTIONS.items()
    },
)
ASYNCPG = ClassDriver(
    name="asyncpg",
    modules=("asyncpg",),
    errors="asyncpg.exceptions",
    operational="InternalServerError",
    # asyncpg's transaction blocks execute BEGIN, COMMIT and ROLLBACK; a batch succeeds or fails as
    # a whole.
    methods={
        f"asyncpg.connection:Connection.{name}": EXECUTE
        for name in ("execute", "executemany", "fetch", "fetchrow", "fetchval")
    },
    refused="SELECT refused_on_purpose",
)


def _redis(name: str) -> ClassDriver:
    """Return the driver of redis-py, or of a client with the same classes."""
    manners = {
        f"{name.title()}.execute_command": EXECUTE,
        "Pipeline.immediate_execute_command": EXECUTE,
        "Pipeline._execute_transaction": PIPELINE,
        "Pipeline._execute_pipeline": PIPELINE,
    }
    return ClassDriver(
        name=name,
        modules=(name,),
        errors=f"{name}.exceptions",
        operational="ResponseError",
        methods={
            f"{module}:{call}": manner
            for module in (f"{name}.client", f"{name}.asyncio.client")
            for call, manner in manners.items()
        },
    )


REDIS = _redis("redis")
VALKEY = _redis("valkey")

BOTOCORE = ClassDriver(
    name="botocore",
    modules=("botocore",),
    errors="saverproof_faults.botocore_errors",
    operational="InternalServerError",
    # Every request of every client and resource, from any thread, passes this one method.
    methods={"botocore.client:BaseClient._make_api_call": EXECUTE},
)

KNOWN_DRIVERS: Mapping[str, Driver] = {
    driver.name: driver
    for driver in (SQLITE3, PSYCOPG, PYMYSQL, AIOMYSQL, ASYNCMY, ASYNCPG, REDIS, VALKEY, BOTOCORE)
}
"""The drivers that need no declaration, by name. For another, make a ClassDriver or implement
Driver.
"""

WITHOUT_HOOKS: Mapping[str, str] = {
    name: name
    for name in (
        "apsw",
        "duckdb",
        "libsql",
        "MySQLdb",
        "mysql.connector",
        "oracledb",
        "psycopg2",
        "pymongo",
        "pysqlite3",
    )
}
"""Modules that talk to a database and cannot be made to fail: a report can only name them."""


def loaded_drivers() -> tuple[str, ...]:
    """Return the known drivers, and the modules without hooks, that this process has loaded.

    sqlite3 is always among them, because this package uses it itself.
    """
    known = [
        name
        for name, driver in KNOWN_DRIVERS.items()
        if any(module in sys.modules for module in driver.modules)
    ]
    return (*known, *(name for name in WITHOUT_HOOKS if name in sys.modules))


def why_nothing_passed() -> str:
    """Return why driver faults cannot judge an operation that passed no known driver."""
    unreachable = [name for name in loaded_drivers() if name in WITHOUT_HOOKS]
    loaded = f"; loaded but without hooks: {', '.join(unreachable)}" if unreachable else ""
    return (
        f"no call passed a known database driver ({', '.join(KNOWN_DRIVERS)}){loaded}; "
        "declare one as a ClassDriver or a Driver"
    )
