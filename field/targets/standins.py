"""Servers that stand in for services which cannot run here. Each place is a name at one address.

They keep everything in memory, so that they are not killed; the process of the saver is.
"""

import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from saverproof import ServerKind
from saverproof_faults.servers import Server

_BINARIES = Path(sys.executable).parent
"""Where the programs of this environment are."""


class _StandIn(Server):
    users: ClassVar[tuple[str, ...]] = ()
    programs: ClassVar[tuple[str, ...]] = ("python",)
    arguments: ClassVar[tuple[str, ...]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Do nothing: there is no data folder."""

    def command(self) -> Sequence[str]:
        arguments = [one.format(port=self.port) for one in self.arguments]
        return [self.program(self.programs[0]), *arguments]

    def is_ready(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


class _MotoServer(_StandIn):
    programs: ClassVar[tuple[str, ...]] = ("moto_server",)
    arguments: ClassVar[tuple[str, ...]] = ("-H", "127.0.0.1", "-p", "{port}")


class _D1Server(_StandIn):
    arguments: ClassVar[tuple[str, ...]] = ("-m", "targets.d1_server", "{port}")


class _UpstashServer(_StandIn):
    arguments: ClassVar[tuple[str, ...]] = ("-m", "targets.upstash_server", "{port}")


class _Names:
    """Places that are names: who takes one makes what it needs."""

    ahead = 2
    version = "a stand-in"

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn.rstrip("/")

    def make(self, name: str) -> str:
        return f"{self._dsn}/{name}"

    def drop(self, name: str) -> None:
        """Do nothing: the server's memory ends with the run."""

    def end_sessions(self, name: str) -> None:
        """Do nothing: HTTP has no sessions."""


class _Kind(ServerKind):
    schemes: ClassVar[tuple[str, ...]] = ("http",)
    runner: ClassVar[type[_StandIn]]

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[_StandIn]:
        with self.runner(scratch=scratch, binaries=_BINARIES) as server:
            yield server

    @contextmanager
    def places(self, dsn: str) -> Iterator[_Names]:
        yield _Names(dsn)


@dataclass(frozen=True)
class Moto(_Kind):
    """moto, which plays DynamoDB and S3."""

    title = "moto"
    variable = "SAVERPROOF_MOTO_DSN"
    runner = _MotoServer


@dataclass(frozen=True)
class D1(_Kind):
    """A page of HTTP over SQLite, which plays Cloudflare D1."""

    title = "a stand-in for D1"
    variable = "SAVERPROOF_D1_DSN"
    runner = _D1Server


@dataclass(frozen=True)
class Upstash(_Kind):
    """A page of HTTP over fakeredis, which plays Upstash Redis."""

    title = "a stand-in for Upstash Redis"
    variable = "SAVERPROOF_UPSTASH_DSN"
    runner = _UpstashServer
