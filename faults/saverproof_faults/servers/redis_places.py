"""Redis and Valkey as kinds of servers: each store has a numbered database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from saverproof_faults.servers import redis_kept, redis_scripts
from saverproof_faults.servers.kinds import (
    NoPlaceError,
    Places,
    RunningServer,
    ServerKind,
    ServerWork,
    Way,
    where,
    within,
)
from saverproof_faults.servers.redis import RedisServer, ValkeyServer
from saverproof_faults.servers.redis_connection import (
    RedisConnection,
    RefusedError,
    database_of,
)
from saverproof_faults.servers.redis_work import RedisWork
from saverproof_faults.servers.redis_writes import FailingWrites
from saverproof_faults.servers.server import ServerUnavailable

T = TypeVar("T")

_USUAL_NUMBER = 16
"""How many databases a server is taken to have if it does not tell: Redis's default."""


@dataclass(frozen=True, slots=True)
class Redis(ServerKind):
    """Redis. Each workspace is a numbered database of its own; ``workspace.dsn`` is its URL.

    In a server that is not the kit's own, only databases that are empty are used.
    """

    title = "Redis"
    schemes: ClassVar[tuple[str, ...]] = ("redis", "rediss")
    variable = "SAVERPROOF_REDIS_DSN"
    promise = (
        "appendonly yes, appendfsync no: a command that it has answered outlives its "
        "process, not a power cut"
    )
    runner: ClassVar[type[RedisServer]] = RedisServer

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[RunningServer]:
        with self.runner(scratch=scratch) as server:
            yield server

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        with self._numbered(dsn, None) as places:
            yield places

    @contextmanager
    def places_in(self, server: RunningServer, dsn: str) -> Iterator[Places]:
        with self._numbered(dsn, server) as places:
            yield places

    @contextmanager
    def _numbered(self, dsn: str, server: RunningServer | None) -> Iterator[Places]:
        try:
            places = _Numbered(dsn, server)
        except (OSError, RefusedError) as error:
            said = getattr(error, "strerror", None) or error
            raise ServerUnavailable(f"{self.title} at {where(dsn)}: {said}") from None
        with closing(places):
            yield places

    @contextmanager
    def work(self, dsn: str) -> Iterator[ServerWork]:
        with closing(RedisWork(dsn)) as work:
            yield work

    def bytes_kept(self, dsn: str) -> int:
        with closing(RedisConnection(dsn)) as connection:
            return redis_kept.bytes_kept(connection, database_of(dsn))


@dataclass(frozen=True, slots=True)
class Valkey(Redis):
    """Valkey. Each workspace is a numbered database of its own, as with Redis."""

    title = "Valkey"
    schemes = ("valkey", "redis", "rediss", "valkeys")
    variable = "SAVERPROOF_VALKEY_DSN"
    runner = ValkeyServer


class _Numbered:
    ahead = 2
    ways, for_all = FailingWrites.WAYS, True

    def __init__(self, dsn: str, server: RunningServer | None) -> None:
        self._dsn = dsn
        self._server = server
        self._connection = RedisConnection(dsn)
        self.version = self._connection.version
        self._free = list(range(self._how_many()))
        self._used: dict[str, int] = {}
        self._failing = FailingWrites(dsn, self._connection)

    def _how_many(self) -> int:
        try:
            return int(self._connection.ask("CONFIG", "GET", "databases")[1])
        except (RefusedError, IndexError):
            return _USUAL_NUMBER

    def make(self, name: str) -> str:
        return self._freed(lambda: self._make(name))

    def _make(self, name: str) -> str:
        # Databases that were used longest ago come first.
        for number in list(self._free):
            self._connection.ask("SELECT", str(number))
            if self._connection.ask("DBSIZE") == 0:
                self._free.remove(number)
                self._used[name] = number
                return within(self._dsn, str(number))
        databases = len(self._free) + len(self._used)
        raise NoPlaceError(
            f"no empty database among {databases}: {len(self._used)} are in use, "
            f"{len(self._free)} hold what others have put there"
        )

    def drop(self, name: str) -> None:
        if name in self._used:
            self._freed(lambda: self._empty(self._used[name]))
            self._free.append(self._used.pop(name))

    def _empty(self, number: int) -> None:
        self._connection.ask("SELECT", str(number))
        self._connection.ask("FLUSHDB")

    def end_sessions(self, name: str) -> None:
        self._freed(lambda: self._end_sessions(name))

    def _end_sessions(self, name: str) -> None:
        ours = str(self._connection.ask("CLIENT", "ID"))
        sessions = self._connection.ask("CLIENT", "LIST").decode().splitlines()
        number = self._used[name]
        for line in sessions:
            fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
            if fields.get("db") == str(number) and fields.get("id") != ours:
                # A session that has ended by itself is refused.
                with suppress(RefusedError):
                    self._connection.ask("CLIENT", "KILL", "ID", fields["id"])

    def _freed(self, work: Callable[[], T]) -> T:
        """Do what the server is asked for. A script that keeps a private server busy is ended."""
        try:
            return work()
        except RefusedError as refused:
            if self._server is None or not redis_scripts.is_busy(refused):
                raise
            if not redis_scripts.ended(self._connection):
                self._server.kill()
                self._server.start()
                self.reconnect()
        return work()

    def reconnect(self) -> None:
        self.close()
        self._connection = RedisConnection(self._dsn)
        self._failing = FailingWrites(self._dsn, self._connection)

    def watch_writes(self, name: str) -> None:
        self._failing.watch(self._used[name])

    def written(self, name: str) -> list[str]:
        return self._failing.written()

    def fail_write(self, name: str, number: int, how: Way, what: str) -> None:
        self._failing.fail(how, what)

    def has_failed(self, name: str) -> bool:
        return self._failing.end()

    def close(self) -> None:
        """Close the connections."""
        self._failing.close()
        self._connection.close()
