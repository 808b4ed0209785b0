"""PgBouncer in transaction mode before PostgreSQL, as a kind of server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from saverproof_faults.servers.kinds import (
    Places,
    RunningServer,
    ServerWork,
    through,
    where,
    within,
)
from saverproof_faults.servers.pgbouncer import PgBouncerServer, PooledPostgres
from saverproof_faults.servers.postgres import PostgresServer
from saverproof_faults.servers.postgres_places import QUICK, Databases, Postgres, connected
from saverproof_faults.servers.server import ServerError, ServerUnavailable

_CONSOLE = "pgbouncer"
"""The name of the database by which a PgBouncer takes orders."""
_SESSIONS = 2
"""How many sessions wait for the transactions of a place: by turns, so that none gets the session
of the one before it.
"""


@dataclass(frozen=True, slots=True)
class PgBouncer(Postgres):
    """PostgreSQL behind PgBouncer in transaction mode: each transaction gets another session.

    Each workspace is a database of its own; ``workspace.dsn`` is its URL at the pooler.
    """

    title = "PgBouncer and PostgreSQL"
    variable = "SAVERPROOF_PGBOUNCER_DSN"
    pooled = True

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[RunningServer]:
        if reason := PgBouncerServer.missing():
            # Say so before the other server is made.
            raise ServerUnavailable(reason)
        with (
            PostgresServer(scratch=scratch, settings=QUICK) as server,
            PgBouncerServer(behind=server, scratch=scratch) as pooler,
        ):
            yield PooledPostgres(pooler)

    def places(self, dsn: str) -> AbstractContextManager[Places]:
        self.check_pooler(dsn)
        return self.databases(dsn)

    def places_in(self, server: RunningServer, dsn: str) -> AbstractContextManager[Places]:
        return self.databases_in(server, dsn)

    @contextmanager
    def databases_in(self, server: RunningServer, dsn: str) -> Iterator[Databases]:
        """Return the databases of a private server behind the pooler at ``dsn``."""
        assert isinstance(server, PooledPostgres)
        direct = server.pooler.behind.url
        connection = connected(direct, self.title)
        with closing(_Pooled(direct, connection, server.pooler, dsn)) as databases:
            self.check(databases)
            yield databases

    def check_pooler(self, dsn: str) -> None:
        """Check that a pooler in transaction mode is there, as far as its user may ask.

        Raises:
            ServerUnavailable: there is another server, or the pooler has another mode.
        """
        try:
            console = connected(within(dsn, _CONSOLE), self.title)
        except ServerUnavailable:
            # No server has such a database, and a pooler shows it to its administrators alone.
            with closing(connected(dsn, self.title)) as connection:
                (session,) = connection.execute("SELECT pg_backend_pid()").fetchone()
                if session == connection.info.backend_pid:
                    raise ServerUnavailable(
                        f"{self.title} at {where(dsn)}: found PostgreSQL itself, expected PgBouncer"
                    ) from None
            return
        with closing(console):
            settings = {row[0]: row[1] for row in console.execute("SHOW CONFIG").fetchall()}
        if (mode := settings.get("pool_mode")) != "transaction":
            raise ServerUnavailable(
                f"{self.title} at {where(dsn)}: found pool_mode {mode}, expected transaction"
            )

    def work(self, dsn: str) -> AbstractContextManager[ServerWork]:
        raise ServerUnavailable(
            "PostgreSQL tells what a session has read when it ends, and PgBouncer keeps sessions"
        )


class _Pooled(Databases):
    """The databases of a private server, which users reach through its pooler.

    The keeper itself goes to the server.
    """

    def __init__(self, dsn: str, connection: Any, pooler: PgBouncerServer, shown: str) -> None:
        super().__init__(dsn, connection)
        self._pooler = pooler
        self._shown = shown
        with self._console() as console:
            said = str(console.execute("SHOW VERSION").fetchone()[0])
        self.version = f"{said.removeprefix('PgBouncer ')} and {self.version}"

    def make(self, name: str) -> str:
        super().make(name)
        return self._opened(name)

    def renew(self, name: str, new: str) -> str | None:
        return None if super().renew(name, new) is None else self._opened(new)

    def end_sessions(self, name: str) -> None:
        super().end_sessions(name)
        self._begin_sessions(name)

    def _end_sessions(self, name: str) -> None:
        with self._console() as console:
            # A pooler that was killed does not know the place any more: then nobody is there.
            with suppress(console.Error):
                console.execute(f"KILL {name}")
            try:
                super()._end_sessions(name)
            finally:
                with suppress(console.Error):
                    console.execute(f"RESUME {name}")

    def end_sessions_of(self, client: str) -> None:
        with self._console() as console:
            # When the pooler answers, it has passed on what clients had sent before.
            console.execute("SHOW VERSION")
        # The next client gets an idle session, whichever client had it before.
        if not self._end("application_name = %s AND state <> 'idle'", client):
            raise ServerError("behind a pooler a client has no session but in a transaction")

    def _opened(self, name: str) -> str:
        self._begin_sessions(name)
        return within(self._shown, name)

    def _begin_sessions(self, name: str) -> None:
        """Make the pooler open its sessions in a place, by running several transactions at the same
        time.
        """
        dsn = within(through(self.dsn, self._pooler.port), name)
        with ExitStack() as stack:
            for _ in range(_SESSIONS):
                connection = stack.enter_context(self._connect(dsn))
                stack.enter_context(connection.transaction())
                connection.execute("SELECT 1")

    def _console(self) -> AbstractContextManager[Any]:
        console: AbstractContextManager[Any] = closing(self._connect(self._pooler.console))
        return console
