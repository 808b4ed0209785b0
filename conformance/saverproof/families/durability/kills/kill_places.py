"""Says where a process is killed, as data and in words. A kill can be replayed from the data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PlaceKind(StrEnum):
    """The kinds of places."""

    STATEMENT = "statement"
    """Before or after a statement that SQLite runs, or in a commit."""
    IO = "io"
    """Before a write, sync, truncation, deletion or opening of a file by SQLite."""
    SYSTEM_CALL = "system call"
    """Before a system call on a file of the store, or in the middle of a write."""
    MESSAGE = "message"
    """Before a connection to a server is opened, or a message is sent."""
    CALL = "call"
    """Before or after a call of the process's own that changes a file, or talks to a socket."""
    ACKNOWLEDGED = "acknowledged"
    """When an operation has returned, and before the next one is called."""
    INSTANT = "instant"
    """At an instant chosen by chance."""


OPENING = -1
"""Stands for an operation's number while the saver is opened."""


@dataclass(frozen=True, slots=True)
class KillPlace:
    """The ``index``-th place of a kind, counted from 1 since ``operation`` began.

    ``operation`` is the position in the program; ``OPENING`` is before its first step, and the
    program's length stands for closing the saver. For an instant, ``index`` is the seed and
    ``window_s`` the time in which it falls. ``moment``, ``event`` and ``number`` name the same
    place in the terms of ``saverproof_faults``; ``about`` quotes the statement or call there in a
    clean run. ``server`` says that the server is killed together with the process. ``again`` says
    that the processes which open the store afterwards are killed as well, each at its next place,
    until one of them finishes.
    """

    kind: PlaceKind
    operation: int = OPENING
    index: int = 1
    window_s: float = 0.0
    event: str = ""
    number: int = 0
    moment: str = ""
    about: str = ""
    server: bool = False
    again: bool = False

    @property
    def sort(self) -> str:
        """The kind of kill under which reports count the kill."""
        if self.again:
            return "recovery"
        return "server" if self.server else self.kind.value

    @property
    def inside(self) -> bool:
        """True if the place lies within an operation, as far as is known before the run."""
        beside = (PlaceKind.ACKNOWLEDGED, PlaceKind.INSTANT)
        return self.kind not in beside and self.operation > OPENING

    def describe(self) -> str:
        """Describe the place within its operation, as a part of a sentence."""
        server = ", and the server with it" if self.server else ""
        again = ", and each that opened the store again one place later" if self.again else ""
        return f"{self._where()}{server}{again}"

    def _where(self) -> str:
        match self.kind:
            case PlaceKind.ACKNOWLEDGED:
                return "after it had returned"
            case PlaceKind.INSTANT:
                return "at an instant chosen by chance"
            case PlaceKind.IO:
                return f"before I/O {self.index}: {self.about}"
            case PlaceKind.SYSTEM_CALL:
                return f"{self.moment} system call {self.index} on the store's files: {self.about}"
            case PlaceKind.MESSAGE:
                return f"before message {self.index} to the server: {self.about}"
            case PlaceKind.CALL:
                return f"{self.moment} {self.about}"
            case _ if self.event == "transaction":
                return f"inside the commit of transaction {self.number}"
            case _:
                return f"{self.moment} statement {self.number}: {self.about}"
