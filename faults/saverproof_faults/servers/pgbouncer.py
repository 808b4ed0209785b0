"""A private PgBouncer before a private PostgreSQL server."""

import re
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from saverproof_faults.servers.postgres import PostgresServer
from saverproof_faults.servers.server import HOST, Server

_SETTINGS = (
    f"listen_addr = {HOST}",
    "unix_socket_dir =",
    # PostgreSQL is asked for the same password, in clear as well: all of it is on loopback.
    "auth_type = plain",
    "admin_users = postgres",
    "pool_mode = transaction",
    # Else the session that was used last comes first, and one client alone would always get its
    # own.
    "server_round_robin = 1",
    "server_idle_timeout = 0",
    # Each caller of a store may be in a transaction, and some of them are stopped there.
    "default_pool_size = 40",
    "max_client_conn = 1000",
    # What a client asks for in these is lost without a word, as where owners of poolers have made
    # their clients' connections possible. Since 1.20 the names in ``options`` count as well.
    "ignore_startup_parameters = extra_float_digits, options, search_path",
    "log_connections = 0",
    "log_disconnections = 0",
    "log_pooler_errors = 0",
    "log_stats = 0",
)
_TRACKS = (1, 21)
"""The first version that can keep prepared statements for its clients; later ones do unless they
are told not to.
"""


class PgBouncerServer(Server):
    """PgBouncer in transaction mode before the server ``behind``, for all of its databases.

    A transaction gets that session of the database which has rested longest. Prepared statements
    are not kept for a client. Users and passwords are the server's.
    """

    programs = ("pgbouncer",)
    places = ("usr/sbin", "usr/local/sbin", "opt/homebrew/bin")
    users = ("postgres", "nobody")

    def __init__(
        self,
        *,
        behind: PostgresServer | None = None,
        binaries: Path | None = None,
        scratch: Path | None = None,
    ) -> None:
        super().__init__(binaries=binaries, scratch=scratch)
        self._behind = behind

    @property
    def behind(self) -> PostgresServer:
        """The server that this one stands before."""
        assert self._behind is not None
        return self._behind

    @property
    def url(self) -> str:
        return f"postgresql://postgres:{self.behind.password}@{HOST}:{self.port}/postgres"

    @property
    def console(self) -> str:
        """The URL of its own database, which takes orders."""
        return f"postgresql://postgres:{self.behind.password}@{HOST}:{self.port}/pgbouncer"

    def prepare(self) -> None:
        self.write_private("users", f'"postgres" "{self.behind.password}"\n')

    def command(self) -> Sequence[str]:
        # Written for each start, as the port may be another one.
        program = self.program("pgbouncer")
        keeps = ("max_prepared_statements = 0",) if _version(program) >= _TRACKS else ()
        settings = (
            "[databases]",
            f"* = host={HOST} port={self.behind.port}",
            "[pgbouncer]",
            f"listen_port = {self.port}",
            f"auth_file = {self.folder / 'users'}",
            *_SETTINGS,
            *keeps,
        )
        return [program, str(self.write_private("pgbouncer.ini", "\n".join(settings) + "\n"))]

    def is_ready(self) -> bool:
        with suppress(OSError), socket.create_connection((HOST, self.port), timeout=1):
            return True
        return False

    def stop(self) -> None:
        # It keeps nothing, and since 1.23 it waits for its clients when it is asked to end.
        self.kill()


class PooledPostgres:
    """A server and the pooler before it, as one server (see ``RunningServer``)."""

    def __init__(self, pooler: PgBouncerServer) -> None:
        self.pooler = pooler

    @property
    def url(self) -> str:
        """The URL of the pooler."""
        return self.pooler.url

    @property
    def port(self) -> int:
        """The port of the pooler."""
        return self.pooler.port

    def move(self) -> None:
        """Use another port for the pooler from the next start on."""
        self.pooler.move()

    def kill(self) -> None:
        """Kill both, the pooler first: it tells nobody that its server is gone."""
        self.pooler.kill()
        self.pooler.behind.kill()

    def start(self) -> None:
        """Start the server and then the pooler.

        Raises:
            ServerError: one of them does not start.
        """
        self.pooler.behind.start()
        self.pooler.start()

    def freeze(self) -> None:
        """Stop the pooler (SIGSTOP): nothing gets through.

        Raises:
            ServerError: this system does not show when a stopped server has caught up.
        """
        self.pooler.freeze()

    def thaw(self) -> None:
        """Let the pooler go on, and wait until both have done what was asked meanwhile.

        Raises:
            ServerError: they never come to rest.
        """
        self.pooler.thaw()
        self.pooler.behind.thaw()


def _version(program: str) -> tuple[int, ...]:
    """Return the version of a PgBouncer, major and minor."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"PgBouncer (\d+)\.(\d+)", said.stdout)
    return tuple(map(int, found.groups())) if found else (0, 0)
