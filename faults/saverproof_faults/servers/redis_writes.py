"""Let Redis itself refuse writes: one command on certain keys, or everything that takes room.

MONITOR shows what an operation writes, including the commands of Lua scripts and of transactions. A
rule of the ACL then forbids one command on the keys that begin like one of the operation's own. The
command fails where it runs, for instance in the middle of a pipeline. Rules belong to users, and so
affect the whole server.

Of a script or function, only the first write is refused. Once it has written, Redis itself lets it
end, whatever happens: full memory, a disk that fails or too few replicas do not stop it
(``scriptVerifyWriteCommandAllow`` and ``scriptVerifyOOM`` in its ``script.c``). That is what its
users are told a script is for, and it can undo nothing.
"""

from __future__ import annotations

import re
from typing import ClassVar

from saverproof_faults.servers.kinds import Way
from saverproof_faults.servers.redis_connection import RedisConnection
from saverproof_faults.servers.redis_monitor import RedisMonitor

_ALIKE = re.compile(r"[!-'*-\[\]-~]{0,60}")
"""The characters of a key that a rule of the ACL can hold."""
_BY_CHANCE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|\d\.\d{6,}|[0-9a-f]{16,}")
"""A part of a key that may differ the next time: an id, or a random number."""
_NO_ROOM = "errorstat_OOM:count="
_GLOBS = "*?[]^\\"


class FailingWrites:
    """A counter of writes that can also make them fail, in one database at a time."""

    WAYS: ClassVar = (Way.REFUSE, Way.FULL)

    def __init__(self, dsn: str, connection: RedisConnection) -> None:
        self._dsn = dsn
        self._connection = connection
        self._monitor: RedisMonitor | None = None
        self._database = 0
        self._refused = 0
        self._writing: frozenset[str] | None = None

    def watch(self, database: int) -> None:
        """Begin to see what is written to a database.

        Raises:
            RefusedError: the server is older than Redis 7.
        """
        if self._writing is None:
            names = self._connection.ask("COMMAND", "LIST", "FILTERBY", "ACLCAT", "write")
            self._writing = frozenset(name.decode().upper() for name in names)
        self.close()
        self._database = database
        self._monitor = RedisMonitor(self._dsn, self._connection)

    def written(self) -> list[str]:
        """Return what was written since ``watch`` and can be refused, such as "HSET on thread:1:",
        each once.
        """
        assert self._monitor is not None
        assert self._writing is not None
        may_fail: dict[str, bool] = {}
        within: set[str] = set()
        script_has_written = False
        for seen in self._monitor.seen():
            script_has_written = script_has_written and seen.in_script
            if seen.database == self._database and seen.name in self._writing:
                there = f"{seen.name} on {_beginning(seen.key)}"
                # The next time a script may come to the same keys in another order, and begin with
                # others: it is refused the command whatever the key.
                what = f"{seen.name} in a script" if seen.in_script else there
                may_fail.setdefault(what, not script_has_written)
                if script_has_written:
                    within.add(there)
                script_has_written = seen.in_script
        self.close()
        return [what for what, may in may_fail.items() if may and what not in within]

    def fail(self, how: Way, what: str) -> None:
        """Refuse one of the writes that ``written`` returned, or everything that takes room."""
        self.close()
        self._connection.ask("ACL", "LOG", "RESET")
        self._refused = self._without_room()
        if how is Way.FULL:
            self._connection.ask("CONFIG", "SET", "maxmemory", "1")
            return
        name, key = what.split(" ", 1)[0], what.partition(" on ")[2]
        allowed = " ".join(f"~{pattern}" for pattern in _others(key))
        rules = [f"-{name}", *([f"(+{name} {allowed})"] if allowed else [])]
        self._connection.ask("ACL", "SETUSER", "default", *rules)

    def end(self) -> bool:
        """Let all writes succeed again, and return whether one was refused."""
        self._connection.ask("CONFIG", "SET", "maxmemory", "0")
        self._connection.ask("ACL", "SETUSER", "default", "clearselectors", "+@all")
        return bool(self._connection.ask("ACL", "LOG")) or self._without_room() > self._refused

    def close(self) -> None:
        """Stop watching."""
        if self._monitor is not None:
            self._monitor.close()
            self._monitor = None

    def _without_room(self) -> int:
        """Return how often the server refused a command because its memory was full."""
        found: str = self._connection.ask("INFO", "errorstats").decode()
        return int(found.partition(_NO_ROOM)[2].split("\r")[0] or 0)


def _beginning(key: str) -> str:
    """Return the key up to its first part that may differ the next time, such as an id."""
    begins = _ALIKE.match(key)
    alike = begins[0] if begins else ""
    chance = _BY_CHANCE.search(alike)
    return alike[: chance.start()] if chance else alike


def _others(beginning: str) -> list[str]:
    """Return patterns that together match every key with another beginning."""
    patterns = []
    for at, letter in enumerate(beginning):
        before = "".join(map(_quoted, beginning[:at]))
        patterns += [*([before] if before else []), f"{before}[^{_quoted(letter)}]*"]
    return patterns


def _quoted(letter: str) -> str:
    return f"\\{letter}" if letter in _GLOBS else letter
