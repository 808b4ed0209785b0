"""Has Redis itself refuse what it is to write: commands on certain keys, or all that takes room.

What an operation writes is seen by MONITOR, commands of Lua scripts and of transactions included. A
rule of the ACL then forbids one command on the keys that begin like one of its own: it fails where
it is run, in the middle of a pipeline or a script. Rules are about users, and so about the whole
server.
"""

from __future__ import annotations

import re
from typing import ClassVar

from saverproof_faults.servers.kinds import Way
from saverproof_faults.servers.redis_connection import RedisConnection

_SHOWN = re.compile(r'[\d.]+ \[(\d+) \S+\] "([\w.]+)"(?: "((?:[^"\\]|\\.)*)")?')
"""A command as a monitor shows it: database, name, and the first word after it, which is a key."""
_ALIKE = re.compile(r"[!-'*-\[\]-~]{0,60}")
"""What a rule can hold of a key."""
_BY_CHANCE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|\d\.\d{6,}|[0-9a-f]{16,}")
"""What may be another key the next time: an id, a number drawn by chance."""
_NO_ROOM = "errorstat_OOM:count="
_GLOBS = "*?[]^\\"


class FailingWrites:
    """Counts and fails writes, of one database at a time."""

    WAYS: ClassVar = (Way.REFUSE, Way.FULL)

    def __init__(self, dsn: str, connection: RedisConnection) -> None:
        self._dsn = dsn
        self._connection = connection
        self._monitor: RedisConnection | None = None
        self._database = 0
        self._refused = 0
        self._writing: frozenset[str] | None = None

    def watch(self, database: int) -> None:
        """Begin to see what is written to a database. Raises RefusedError before Redis 7."""
        if self._writing is None:
            names = self._connection.ask("COMMAND", "LIST", "FILTERBY", "ACLCAT", "write")
            self._writing = frozenset(name.decode() for name in names)
        self.close()
        self._database = database
        self._monitor = RedisConnection(self._dsn)
        self._monitor.ask("MONITOR")

    def written(self) -> list[str]:
        """What was written since, as "HSET on thread:1:", each once."""
        assert self._monitor is not None
        assert self._writing is not None
        end = self._connection.ask("CLIENT", "ID")
        self._connection.ask("ECHO", f"saverproof:{end}")
        found: dict[str, None] = {}
        while True:
            shown = _SHOWN.match(self._monitor.answer().decode(errors="replace"))
            if shown is None:
                continue
            database, name, key = shown.groups()
            if key == f"saverproof:{end}":
                self.close()
                return list(found)
            if int(database) == self._database and name.lower() in self._writing:
                found[f"{name.upper()} on {_beginning(key or '')}"] = None

    def fail(self, how: Way, what: str) -> None:
        """Refuse what ``written`` has said, or whatever takes room."""
        self.close()
        self._connection.ask("ACL", "LOG", "RESET")
        self._refused = self._without_room()
        if how is Way.FULL:
            self._connection.ask("CONFIG", "SET", "maxmemory", "1")
            return
        name, _, key = what.partition(" on ")
        allowed = " ".join(f"~{pattern}" for pattern in _others(key))
        rules = [f"-{name}", *([f"(+{name} {allowed})"] if allowed else [])]
        self._connection.ask("ACL", "SETUSER", "default", *rules)

    def end(self) -> bool:
        """Refuse nothing any more; whether something was refused."""
        self._connection.ask("CONFIG", "SET", "maxmemory", "0")
        self._connection.ask("ACL", "SETUSER", "default", "clearselectors", "+@all")
        return bool(self._connection.ask("ACL", "LOG")) or self._without_room() > self._refused

    def close(self) -> None:
        """Look no more."""
        if self._monitor is not None:
            self._monitor.close()
            self._monitor = None

    def _without_room(self) -> int:
        """How often a command was refused because there was no room."""
        found: str = self._connection.ask("INFO", "errorstats").decode()
        return int(found.partition(_NO_ROOM)[2].split("\r")[0] or 0)


def _beginning(key: str) -> str:
    """What keys like this one begin with."""
    begins = _ALIKE.match(key)
    alike = begins[0] if begins else ""
    chance = _BY_CHANCE.search(alike)
    return alike[: chance.start()] if chance else alike


def _others(beginning: str) -> list[str]:
    """Patterns of all keys that do not begin so."""
    patterns = []
    for at, letter in enumerate(beginning):
        before = "".join(map(_quoted, beginning[:at]))
        patterns += [*([before] if before else []), f"{before}[^{_quoted(letter)}]*"]
    return patterns


def _quoted(letter: str) -> str:
    return f"\\{letter}" if letter in _GLOBS else letter
