"""Private database servers that can be killed, and a proxy that cuts connections. All on loopback.

    reason = PostgresServer.missing()             # None, or what is not installed
    with PostgresServer() as server, TcpProxy(server.port) as proxy:
        store = open_store(server.url)
        ...
        server.restart()                          # SIGKILL to all its processes, then recovery
        proxy.arm(NetworkFault(NetworkHarm.CUT, Direction.TO_CLIENT, after_bytes=120))
        ...                                       # through proxy.port
        assert proxy.fired

    with place(Postgres()) as here:               # an empty database, gone afterwards
        store = open_store(here.dsn)

A server runs in a folder of its own, under a user without privileges, behind a random password.
Nothing of it is left afterwards, not even when the process that started it is killed.
"""

from saverproof_faults.servers.keeper_client import (
    Keeper,
    KeptServer,
    Need,
    dsn_for,
    place,
    serving,
    serving_apart,
)
from saverproof_faults.servers.kinds import (
    NoPlaceError,
    Places,
    RunningServer,
    ServerKind,
    ServerWork,
    Way,
)
from saverproof_faults.servers.leases import Lease
from saverproof_faults.servers.mariadb import MariaDbServer
from saverproof_faults.servers.mariadb_places import MariaDB
from saverproof_faults.servers.pgbouncer import PgBouncerServer, PooledPostgres
from saverproof_faults.servers.pgbouncer_places import PgBouncer
from saverproof_faults.servers.postgres import PostgresServer
from saverproof_faults.servers.postgres_places import Postgres
from saverproof_faults.servers.postgres_schemas import PgBouncerSchemas, PostgresSchemas
from saverproof_faults.servers.proxy import Direction, NetworkFault, NetworkHarm, TcpProxy
from saverproof_faults.servers.redis import AppendSync, RedisServer, ValkeyServer
from saverproof_faults.servers.redis_places import Redis, Valkey
from saverproof_faults.servers.redis_stack import RedisStack
from saverproof_faults.servers.server import Server, ServerError, ServerUnavailable

__all__ = [
    "AppendSync",
    "Direction",
    "Keeper",
    "KeptServer",
    "Lease",
    "MariaDB",
    "MariaDbServer",
    "Need",
    "NetworkFault",
    "NetworkHarm",
    "NoPlaceError",
    "PgBouncer",
    "PgBouncerSchemas",
    "PgBouncerServer",
    "Places",
    "PooledPostgres",
    "Postgres",
    "PostgresSchemas",
    "PostgresServer",
    "Redis",
    "RedisServer",
    "RedisStack",
    "RunningServer",
    "Server",
    "ServerError",
    "ServerKind",
    "ServerUnavailable",
    "ServerWork",
    "TcpProxy",
    "Valkey",
    "ValkeyServer",
    "Way",
    "dsn_for",
    "place",
    "serving",
    "serving_apart",
]
