"""Let Redis itself refuse writes: one command on certain keys, or everything that takes room.

MONITOR shows what an operation writes, including the commands of Lua scripts and of transactions. A
rule of the ACL then forbids one command on the keys that begin like one of the operation's own. The
command fails where it runs, for instance in the middle of a pipeline. Rules belong to users, and so
affect the whole server.

A script or function is refused before it writes. Once it has written, Redis itself lets it end,
whatever happens: full memory, a disk that fails or too few replicas do not stop it
(``scriptVerifyWriteCommandAllow`` and ``scriptVerifyOOM`` in its ``script.c``). That is what its
users are told a script is for, and it can undo nothing.
"""

from __future__ import annotations

import re
from typing import ClassVar

from saverproof_faults.servers.kinds import Way
from saverproof_faults.servers.redis_connection import RedisConnection
from saverproof_faults.servers.redis_monitor import RedisMonitor, SeenCommand

_ALIKE = re.compile(r"[!-'*-\[\]-~]{0,60}")
"""The characters of a key that a rule of the ACL can hold."""
_BY_CHANCE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|\d\.\d{6,}|[0-9a-f]{16,}")
"""A part of a key that may differ the next time: an id, or a random number."""
_NO_ROOM = "errorstat_OOM:count="
_ANY_SCRIPT = "a script"
_INSIDE = " in a later script"
_BESIDE = " beside a script"
"""The words for what is refused, where scripts write."""
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
        seen = [one for one in self._monitor.seen() if self._is_write(one) or not one.in_script]
        self.close()
        scripts = any(one.in_script for one in seen)
        may_fail: dict[str, bool] = {}
        within: set[str] = set()
        script_has_written = False
        for one in seen:
            script_has_written = script_has_written and one.in_script
            if not self._is_write(one):
                continue
            there = f" on {_beginning(one.key)}"
            what = one.name + (_BESIDE if scripts else "") + there
            if one.in_script:
                # Another time it may come to the same keys in another order.
                what = one.name + _INSIDE if _ANY_SCRIPT in may_fail else _ANY_SCRIPT
            may_fail[what] = may_fail.get(what, True) and not script_has_written
            if script_has_written:
                within.add(one.name + _BESIDE + there)
            script_has_written = one.in_script
        return [what for what, may in may_fail.items() if may and what not in within]

    def _is_write(self, seen: SeenCommand) -> bool:
        assert self._writing is not None
        return seen.database == self._database and seen.name in self._writing

    def fail(self, how: Way, what: str) -> None:
        """Refuse one of the writes that ``written`` returned, or everything that takes room."""
        self.close()
        self._connection.ask("ACL", "LOG", "RESET")
        self._refused = self._without_room()
        if how is Way.FULL:
            self._connection.ask("CONFIG", "SET", "maxmemory", "1")
            return
        self._connection.ask("ACL", "SETUSER", "default", *_rules(what))

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


def _rules(what: str) -> list[str]:
    if what == _ANY_SCRIPT:
        return ["-@scripting"]
    name, key = what.split(" ", 1)[0], what.partition(" on ")[2]
    allowed = " ".join(f"~{pattern}" for pattern in _others(key))
    # Where no script was seen, one that does the same instead is refused as a whole.
    whole = [] if _BESIDE in what or _INSIDE in what else ["-@scripting"]
    return [f"-{name}", *whole, *([f"(+{name} {allowed})"] if allowed else [])]


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
