"""What SQLite asked of the file system, and what was said about it, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from saverproof_faults.io import codes


class IoKind(StrEnum):
    """The calls that can change what is on the disk."""

    OPEN = "open"
    WRITE = "write"
    SYNC = "sync"
    TRUNCATE = "truncate"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class IoCall:
    """One call on one file, of SQLite or as a system call.

    ``file`` is relative to the watched folder. ``offset`` is where a write begins, or the size a
    truncation leaves, in bytes; a sync with a ``length`` reaches only the pages of that part.
    ``contents`` are the bytes of a write, kept by a ``Recorder`` only.
    ``creates`` marks an open that made the file; ``syncs_folder`` a sync or delete by which SQLite
    makes the folder's earlier changes durable as well. ``result`` is the engine's code, 0 for done.
    """

    kind: IoKind
    file: str
    offset: int = 0
    length: int = 0
    contents: bytes = b""
    creates: bool = False
    syncs_folder: bool = False
    result: int = codes.OK

    @property
    def done(self) -> bool:
        """Whether the call had its effect."""
        return self.result == codes.OK

    def __str__(self) -> str:
        where = f" {self.length} bytes at {self.offset}" if self.kind is IoKind.WRITE else ""
        return f"{self.kind} {self.file}{where}"


class NameKind(StrEnum):
    """The calls that change names without a file's being opened, or make such changes last."""

    RENAME = "rename"
    LINK = "link"
    MAKE_FOLDER = "make folder"
    REMOVE_FOLDER = "remove folder"
    SYNC_FOLDER = "sync folder"
    SYNC_ALL = "sync all"


@dataclass(frozen=True, slots=True)
class NameCall:
    """One call on names. ``target`` is the new name of a rename or a link; the folder itself is
    ".". SQLite makes none that matter to it, so that only system calls have them.
    """

    kind: NameKind
    file: str
    target: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.file}{f' to {self.target}' if self.target else ''}"


class MarkKind(StrEnum):
    """What a program says about its own progress, between two I/O calls."""

    STARTED = "started"
    ACKNOWLEDGED = "acknowledged"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Mark:
    """``STARTED`` and ``ACKNOWLEDGED`` name an operation by its number.

    ``SETTLED`` says that all that came before has reached the disk, however it was written: a
    quiet time after set-up. Power-cut images begin at the last such mark.
    """

    kind: MarkKind
    operation: int = 0


Entry: TypeAlias = IoCall | NameCall | Mark


@dataclass(frozen=True, slots=True)
class Recording:
    """All that happened in a folder: its files at the beginning (taken to be on the disk), then
    calls and marks in order."""

    initial: Mapping[str, bytes]
    log: tuple[Entry, ...]
    folders: tuple[str, ...] = ()
    """Those that were there at the beginning, and need not hold a file."""
