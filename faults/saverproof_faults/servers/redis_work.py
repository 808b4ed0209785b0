"""Count the commands that Redis runs in one database, and the entries that they go through."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing

from saverproof_faults.servers.redis_connection import (
    RedisConnection,
    RefusedError,
    database_of,
)
from saverproof_faults.servers.redis_monitor import RedisMonitor, SeenCommand
from saverproof_faults.servers.server import ServerUnavailable

_WHOLE = {"SMEMBERS": "SCARD", "HGETALL": "HLEN", "HKEYS": "HLEN", "HVALS": "HLEN"}
"""Command that goes through everything under a key -> command that counts its entries."""
_IN_BATCHES = frozenset({"SCAN", "SSCAN", "HSCAN", "ZSCAN"})
_BATCH = re.compile(r'"COUNT" "(\d+)"', re.IGNORECASE)
_USUAL_BATCH = 10
"""How many entries SCAN goes through in one call without COUNT: Redis's default."""
_OF_CONNECTIONS = frozenset({"AUTH", "CLIENT", "HELLO", "INFO", "PING", "QUIT", "SELECT"})
"""Commands that drivers send for each connection. Their number depends on the pool."""
_OF_MODULES = ("FT.",)


class RedisWork:
    """A counter of the work in the database of a DSN; see ``ServerWork``."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._number = database_of(dsn)
        self._connection = RedisConnection(dsn)
        self._connection.ask("SELECT", self._number)

    def begin(self) -> None:
        """Begin to count. Until ``done``, Redis shows all commands to this process."""
        try:
            self._monitor = RedisMonitor(self._dsn, self._connection)
        except RefusedError as refused:
            raise ServerUnavailable(f"Redis shows none of its commands: {refused}") from None

    def done(self) -> Mapping[str, int]:
        """Return the counts since ``begin``, by name.

        Raises:
            ServerUnavailable: a module's command was used, whose work Redis does not report.
        """
        with closing(self._monitor):
            commands = [
                one
                for one in self._monitor.seen()
                if str(one.database) == self._number and one.name not in _OF_CONNECTIONS
            ]
        searches = sorted({one.name for one in commands if one.name.startswith(_OF_MODULES)})
        if searches:
            raise ServerUnavailable(f"Redis does not tell what {', '.join(searches)} goes through")
        return {"commands": len(commands), "unindexed": sum(map(self._entries, commands))}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _entries(self, command: SeenCommand) -> int:
        """Return how many entries a command has gone through without naming them.

        They are counted now, so the store must not have changed much since.
        """
        if command.name == "KEYS":
            return int(self._connection.ask("DBSIZE"))
        if command.name in _IN_BATCHES:
            batch = _BATCH.search(command.line)
            return int(batch[1]) if batch else _USUAL_BATCH
        if command.name in _WHOLE:
            # The key may hold another kind of value by now: its entries cannot be counted then.
            try:
                return int(self._connection.ask(_WHOLE[command.name], command.key))
            except RefusedError:
                return 0
        return 0
