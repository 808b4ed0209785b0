"""What a test needs of a server: to reach or start one, and a clean place in it for each store."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
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
        """How a driver reaches it."""

    def kill(self) -> None:
        """End it and all its processes by SIGKILL."""

    def start(self) -> None:
        """Start it again on the same data."""


class Places(Protocol):
    """Makes databases, schemas, key spaces: whatever is empty at first and belongs to one store.

    Used by one thread. Every method may raise what the driver raises.
    """

    version: str
    """The server's."""
    ahead: int
    """How many places are to be kept ready."""

    def make(self, name: str) -> str:
        """Make an empty place, and say how a driver reaches it. ``name`` was never used before.

        Raises:
            NoPlaceError: none is free at the moment.
        """

    def drop(self, name: str) -> None:
        """Remove a place with all that is in it, whoever may still be connected to it."""

    def end_sessions(self, name: str) -> None:
        """Have the server end every session in a place, as an administrator does, and wait until
        they have ended.
        """


class Way(StrEnum):
    """How a server fails at a write."""

    REFUSE = "refuse"
    """It says no, as with a full disk, or where its rules forbid it."""
    END = "end"
    """It ends the session."""
    CANCEL = "cancel"
    """It breaks the statement off, as one that has taken too long."""
    LOCK = "lock"
    """It has waited too long for a lock."""
    FULL = "full"
    """It has no room for anything any more; the number of the write is of no account."""


@runtime_checkable
class RefusesWrites(Protocol):
    """Places in which the server itself can be made to fail at a write, in mid-transaction.

    Rows that are inserted, updated or deleted are counted from ``watch_writes`` on, and from each
    ``fail_write``. What is counted is not undone by a rollback.
    """

    ways: tuple[Way, ...]
    """How it can fail here."""
    for_all: bool
    """Whether it then fails for whoever else uses the server, too."""

    def watch_writes(self, name: str) -> None:
        """Begin to count the rows that are written to the tables that are there."""

    def written(self, name: str) -> list[str]:
        """What was written so far in transactions that have ended well, as "INSERT on a table"."""

    def fail_write(self, name: str, number: int, how: Way, what: str) -> None:
        """Have the server fail at the ``number``-th row from now, or at whatever is ``what``, which
        ``written`` gave as that row.
        """

    def has_failed(self, name: str) -> bool:
        """Whether that row has come. From now on, none fails."""


@runtime_checkable
class Renews(Protocol):
    """Places that can be emptied, in private servers, with less work than others are made."""

    def renew(self, name: str, new: str) -> str | None:
        """Make a place like a new one, with a name that was never used before: nobody who may
        still know the old one is to come back. How a driver reaches it; None if it was removed.
        """


@runtime_checkable
class OutlivesServers(Protocol):
    """Places that go on to be of use when their server was killed and started again."""

    def reconnect(self) -> None:
        """Connect anew, to the same address."""


@runtime_checkable
class StandsStill(Protocol):
    """A private server that can be made to stand still."""

    def freeze(self) -> None:
        """Stop all its processes where they are."""

    def thaw(self) -> None:
        """Let them go on, and wait until they have done all that was asked of them meanwhile."""


@runtime_checkable
class Moves(Protocol):
    """A private server that can be started again at another port."""

    port: int

    def move(self) -> None:
        """Use another port from the next start on."""


class NoPlaceError(Exception):
    """All the places that a server has are in use."""


class ServerKind(ABC):
    """A sort of server, for ``target(server=...)``.

    Subclasses are dataclasses, defined where they can be imported, with fields that JSON can hold:
    the process that looks after the server is another one.
    """

    title: ClassVar[str]
    """What people call it."""
    schemes: ClassVar[tuple[str, ...]]
    """What its DSNs begin with, the usual one first."""
    variable: ClassVar[str]
    """The environment variable whose DSN is used instead of a private server."""
    promise: ClassVar[str] = ""
    """What a private server keeps of what it has answered, for reports."""

    def private(self, scratch: Path | None) -> AbstractContextManager[RunningServer]:
        """A private server that is running, in a folder of its own below ``scratch``.

        Raises:
            ServerUnavailable: what it takes is not installed.
        """
        raise ServerUnavailable(f"{self.title} cannot be started here")

    @abstractmethod
    def places(self, dsn: str) -> AbstractContextManager[Places]:
        """The places of the server at ``dsn``.

        Raises:
            ServerUnavailable: it cannot be used; one line that does not have the password.
        """


def driver(module: str, install: str) -> Any:
    """A driver's module; ``install`` is what pip calls its distribution.

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
    """A DSN's host and port, which is all of it that may be shown."""
    return urlsplit(dsn).netloc.rpartition("@")[2] or "its socket"


def through(dsn: str, port: int) -> str:
    """The DSN of the same server by way of another port."""
    url = urlsplit(dsn)
    return url._replace(netloc=f"{url.netloc.rpartition(':')[0]}:{port}").geturl()


def within(dsn: str, place: str) -> str:
    """The DSN of another database of the same server."""
    return urlsplit(dsn)._replace(path=f"/{place}").geturl()
