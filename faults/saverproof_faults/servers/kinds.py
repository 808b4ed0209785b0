"""Kinds of servers: how to reach or start one, and how to make a clean place in it."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable
from urllib.parse import urlsplit

from saverproof_faults.servers.server import ServerUnavailable


class RunningServer(Protocol):
    """A private server (see ``Server``)."""

    @property
    def url(self) -> str:
        """The URL by which a driver reaches it, with its password."""

    def kill(self) -> None:
        """Kill the server and all its processes by SIGKILL."""

    def start(self) -> None:
        """Start the server again on the data that it has."""


class Places(Protocol):
    """A maker of places: databases, schemas or key spaces that are empty and belong to one store.

    Only one thread uses it. Every method may raise what the driver raises.
    """

    version: str
    """The version of the server."""
    ahead: int
    """Number of places to keep ready."""

    def make(self, name: str) -> str:
        """Make an empty place, and return the DSN by which a driver reaches it.

        ``name`` was never used before.

        Raises:
            NoPlaceError: no place is free at the moment.
        """

    def drop(self, name: str) -> None:
        """Remove a place and everything in it, even while others are connected to it."""

    def end_sessions(self, name: str) -> None:
        """End every session in a place, as an administrator does, and wait for that."""


class Way(StrEnum):
    """The ways in which a server fails at a write."""

    REFUSE = "refuse"
    """The server refuses the write, as with a full disk or by a rule of access."""
    END = "end"
    """The server ends the session."""
    CANCEL = "cancel"
    """The server breaks the statement off, as one that has taken too long."""
    LOCK = "lock"
    """The server reports that it has waited too long for a lock."""
    FULL = "full"
    """The server has no room for any write; the number of the write does not matter."""


@runtime_checkable
class RefusesWrites(Protocol):
    """Places in which the server itself can be made to fail at a write of a transaction.

    Rows that are inserted, updated or deleted are counted from ``watch_writes`` on, and again from
    each ``fail_write``. A rollback does not undo the counting.
    """

    ways: tuple[Way, ...]
    """The ways in which this server can fail."""
    for_all: bool
    """True if the server then fails for all its users."""

    def watch_writes(self, name: str) -> None:
        """Begin to count the rows that are written to the existing tables."""

    def written(self, name: str) -> list[str]:
        """Return what successful transactions have written so far, such as "INSERT on a table"."""

    def fail_write(self, name: str, number: int, how: Way, what: str) -> None:
        """Let the server fail at the ``number``-th row from now on, or at the write ``what``.

        Servers that count rows use ``number``. Others, such as Redis, use ``what``, an entry of the
        list that ``written`` returns.
        """

    def has_failed(self, name: str) -> bool:
        """Return whether the write of ``fail_write`` was refused; let all writes succeed again."""


@runtime_checkable
class Renews(Protocol):
    """Places in private servers that can be emptied with less work than making new ones."""

    def renew(self, name: str, new: str) -> str | None:
        """Empty a place, give it a name that was never used before, and return its new DSN.

        The new name keeps out clients that still know the old one. The result is None if the place
        was removed instead.
        """


@runtime_checkable
class OutlivesServers(Protocol):
    """Places that can still be used after their server was killed and started again."""

    def reconnect(self) -> None:
        """Connect again, to the same address as before."""


@runtime_checkable
class StandsStill(Protocol):
    """A private server that can be stopped and can go on (SIGSTOP, SIGCONT)."""

    def freeze(self) -> None:
        """Stop all its processes where they are."""

    def thaw(self) -> None:
        """Let its processes go on, and wait until they have handled what was sent meanwhile."""


@runtime_checkable
class Moves(Protocol):
    """A private server that can be started again at another port."""

    port: int

    def move(self) -> None:
        """Use another port from the next start on."""


class ServerWork(Protocol):
    """Counts what a server does in one place, for a store that is closed whenever it is asked."""

    def begin(self) -> None:
        """Count from here.

        Raises:
            ServerUnavailable: the server does not tell; the message is one line.
        """

    def done(self) -> Mapping[str, int]:
        """Return the work since ``begin``, as counts by name.

        ``unindexed``  rows that were read without an index; keys, and entries of a key
        ``rows``       rows that an index led to
        ``blocks``     blocks of tables and indexes
        ``commands``   commands that were run, also those of scripts

        Raises:
            ServerUnavailable: the server does not tell; the message is one line.
        """


class NoPlaceError(Exception):
    """All the places that a server has are in use."""


class ServerKind(ABC):
    """A kind of server, for ``target(server=...)``.

    Subclasses are dataclasses. They are defined in an importable module, and JSON can hold their
    fields, because another process looks after the server.
    """

    title: ClassVar[str]
    """The name for people."""
    schemes: ClassVar[tuple[str, ...]]
    """The schemes of its DSNs, the usual one first."""
    variable: ClassVar[str]
    """The environment variable with the DSN of a server to use instead of a private one."""
    promise: ClassVar[str] = ""
    """What a private server keeps of acknowledged writes when it dies, in words."""
    pooled: ClassVar[bool] = False
    """True if a pooler stands before the server. It ends a broken connection at once, and does not
    wait until the server is done with what came before: messages are then not failed.
    """

    def private(self, scratch: Path | None) -> AbstractContextManager[RunningServer]:
        """Start a private server for the length of a block.

        It runs in a folder of its own below ``scratch``.

        Raises:
            ServerUnavailable: something that it needs is not installed.
        """
        raise ServerUnavailable(f"{self.title} cannot be started here")

    def work(self, dsn: str) -> AbstractContextManager[ServerWork]:
        """Count what the server does in the place at ``dsn``, for the length of a block.

        Raises:
            ServerUnavailable: the server does not count; the message is one line.
        """
        raise ServerUnavailable(f"{self.title} is not asked what it does for a call")

    def bytes_kept(self, dsn: str) -> int:
        """Return the bytes of the values that are stored in the place at ``dsn``.

        Only what can be read counts. Indexes, and data that was removed and that the engine has not
        yet cleaned up, do not count.

        Raises:
            ServerUnavailable: the server does not tell; the message is one line.
        """
        raise ServerUnavailable(f"{self.title} is not asked what it keeps")

    @abstractmethod
    def places(self, dsn: str) -> AbstractContextManager[Places]:
        """Return the places of the server at ``dsn``, for the length of a block.

        Raises:
            ServerUnavailable: the server cannot be used; the message is one line and does not
                hold the password.
        """

    def places_in(self, server: RunningServer, dsn: str) -> AbstractContextManager[Places]:
        """Return the places of a private server, which is reached at ``dsn``.

        Raises:
            ServerUnavailable: as ``places`` does.
        """
        return self.places(dsn)


def driver(module: str, install: str) -> Any:
    """Import a driver's module. ``install`` is the name of its distribution for pip.

    Raises:
        ServerUnavailable: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ServerUnavailable(
            f"the driver {module} is missing ({error}); pip install '{install}'"
        ) from None


def where(dsn: str) -> str:
    """Return the host and port of a DSN. Nothing else of a DSN may be shown."""
    return urlsplit(dsn).netloc.rpartition("@")[2] or "its socket"


def through(dsn: str, port: int) -> str:
    """Return the DSN of the server at another port, such as a proxy's."""
    url = urlsplit(dsn)
    return url._replace(netloc=f"{url.netloc.rpartition(':')[0]}:{port}").geturl()


def within(dsn: str, place: str) -> str:
    """Return the DSN of another database of the server."""
    return urlsplit(dsn)._replace(path=f"/{place}").geturl()
