"""Redis and Valkey as servers for stores: a numbered database for each."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from saverproof_faults.servers.kinds import (
    NoPlaceError,
    Places,
    RunningServer,
    ServerKind,
    where,
    within,
)
from saverproof_faults.servers.redis import RedisServer, ValkeyServer
from saverproof_faults.servers.server import ServerUnavailable

_PATIENCE_S = 10.0
_USUAL_NUMBER = 16


class _Refused(Exception):  # noqa: N818 - an answer
    pass


@dataclass(frozen=True, slots=True)
class Redis(ServerKind):
    """Redis: each workspace is a numbered database of its own, ``workspace.dsn`` its URL.

    Of a server that is not the kit's own, it uses only databases that it finds empty.
    """

    title = "Redis"
    schemes: ClassVar[tuple[str, ...]] = ("redis", "rediss")
    variable = "SAVERPROOF_REDIS_DSN"
    promise = (
        "appendonly yes, appendfsync everysec: a command that it has answered outlives its "
        "process, not a power cut"
    )
    runner: ClassVar[type[RedisServer]] = RedisServer

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[RunningServer]:
        with self.runner(scratch=scratch) as server:
            yield server

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        try:
            places = _Numbered(dsn)
        except (OSError, _Refused) as error:
            said = getattr(error, "strerror", None) or error
            raise ServerUnavailable(f"{self.title} at {where(dsn)}: {said}") from None
        with closing(places):
            yield places


@dataclass(frozen=True, slots=True)
class Valkey(Redis):
    """Valkey, in the same way."""

    title = "Valkey"
    schemes = ("valkey", "redis", "rediss", "valkeys")
    variable = "SAVERPROOF_VALKEY_DSN"
    runner = ValkeyServer


class _Numbered:
    ahead = 2

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection = _Connection(dsn)
        said = self._connection.ask("INFO", "server").decode()
        known = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
        self.version = known.get("valkey_version") or known.get("redis_version", "")
        self._free = list(range(self._how_many()))
        self._used: dict[str, int] = {}

    def _how_many(self) -> int:
        try:
            return int(self._connection.ask("CONFIG", "GET", "databases")[1])
        except (_Refused, IndexError):
            return _USUAL_NUMBER

    def make(self, name: str) -> str:
        # What has been in use longest ago comes first.
        for number in list(self._free):
            self._connection.ask("SELECT", str(number))
            if self._connection.ask("DBSIZE") == 0:
                self._free.remove(number)
                self._used[name] = number
                return within(self._dsn, str(number))
        raise NoPlaceError(f"no empty database among {len(self._free) + len(self._used)}")

    def drop(self, name: str) -> None:
        if name in self._used:
            self._connection.ask("SELECT", str(self._used[name]))
            self._connection.ask("FLUSHDB")
            self._free.append(self._used.pop(name))

    def end_sessions(self, name: str) -> None:
        number, ours = self._used[name], str(self._connection.ask("CLIENT", "ID"))
        for line in self._connection.ask("CLIENT", "LIST").decode().splitlines():
            fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
            if fields.get("db") == str(number) and fields.get("id") != ours:
                # One that has ended by itself is refused.
                with suppress(_Refused):
                    self._connection.ask("CLIENT", "KILL", "ID", fields["id"])

    def reconnect(self) -> None:
        self.close()
        self._connection = _Connection(self._dsn)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class _Connection:
    """One connection, by the protocol itself: no driver that a fault may have been put into."""

    def __init__(self, dsn: str) -> None:
        url = urlsplit(dsn)
        host = url.hostname or "localhost"
        self._socket = socket.create_connection((host, url.port or 6379), timeout=_PATIENCE_S)
        if url.scheme in ("rediss", "valkeys"):
            context = ssl.create_default_context()
            self._socket = context.wrap_socket(self._socket, server_hostname=host)
        self._answers = self._socket.makefile("rb")
        try:
            if url.password:
                user = [unquote(url.username)] if url.username else []
                self.ask("AUTH", *user, unquote(url.password))
            self.ask("PING")
        except BaseException:
            self.close()
            raise

    def ask(self, *words: str) -> Any:
        """The answer to a command. Raises _Refused, OSError."""
        self._socket.sendall(_request(words))
        return self._answer()

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def _answer(self) -> Any:
        line = self._answers.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:].strip()
        if kind == b"-":
            raise _Refused(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if int(rest) < 0 else self._answers.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self._answer() for _ in range(int(rest))]
        return rest


def _request(words: Sequence[str]) -> bytes:
    parts = [word.encode() for word in words]
    head = f"*{len(parts)}\r\n".encode()
    return head + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
