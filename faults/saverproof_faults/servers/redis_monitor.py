"""The commands that a Redis server runs, as MONITOR shows them: those of scripts as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from saverproof_faults.servers.redis_connection import RedisConnection

_SHOWN = re.compile(r'[\d.]+ \[(\d+) (\S+)\] "([\w.]+)"(?: "((?:[^"\\]|\\.)*)")?')
"""A command as MONITOR shows it: database, client, name, and the first word after it, which is a
key.
"""
_SCRIPT = "lua"
"""What is shown for the client of a command that a script or a function gives."""


@dataclass(frozen=True, slots=True)
class SeenCommand:
    """A command. ``key`` is its first argument, ``in_script`` is true if a script gave it, and
    ``line`` is the whole line that MONITOR showed.
    """

    database: int
    name: str
    key: str
    in_script: bool
    line: str


class RedisMonitor:
    """A monitor of the commands in all databases, until it is closed.

    ``connection`` is another connection to the same server.

    Raises:
        RefusedError: the server does not let its commands be seen.
        OSError: the server cannot be reached.
    """

    def __init__(self, dsn: str, connection: RedisConnection) -> None:
        self._asking = connection
        self._showing = RedisConnection(dsn)
        try:
            self._showing.ask("MONITOR")
        except BaseException:
            self.close()
            raise

    def seen(self) -> Iterator[SeenCommand]:
        """Yield the commands since the monitor was made, or since the last call."""
        end = f"saverproof:{self._asking.ask('CLIENT', 'ID')}"
        self._asking.ask("ECHO", end)
        while True:
            line = self._showing.answer().decode(errors="replace")
            shown = _SHOWN.match(line)
            if shown is None:
                continue
            database, client, name, key = shown.groups()
            if key == end:
                return
            yield SeenCommand(int(database), name.upper(), key or "", client == _SCRIPT, line)

    def close(self) -> None:
        """Stop watching."""
        self._showing.close()
