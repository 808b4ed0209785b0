"""Calls on files, and marks between them, as plain data."""

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
    """One call on one file, made by SQLite or as a system call.

    ``file`` is relative to the watched folder. ``offset`` is where a write begins, in bytes, or the
    size that a truncation leaves. A sync with a ``length`` reaches only the pages of that part.
    ``contents`` are the bytes of a write; only a ``Recorder`` keeps them. ``creates`` says that an
    open made the file. ``syncs_folder`` says that a sync or delete also makes the folder's earlier
    changes durable, as SQLite does at some of them. ``result`` is the engine's code, 0 for success.
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
        """True if the call had its effect."""
        return self.result == codes.OK

    def __str__(self) -> str:
        where = f" {self.length} bytes at {self.offset}" if self.kind is IoKind.WRITE else ""
        return f"{self.kind} {self.file}{where}"


class NameKind(StrEnum):
    """The calls that rename or link files, make or remove folders, or make such changes durable."""

    RENAME = "rename"
    LINK = "link"
    MAKE_FOLDER = "make folder"
    REMOVE_FOLDER = "remove folder"
    SYNC_FOLDER = "sync folder"
    SYNC_ALL = "sync all"


@dataclass(frozen=True, slots=True)
class NameCall:
    """One system call on the name of a file or folder.

    ``target`` is the new name of a rename or a link. The watched folder itself is ".". SQLite makes
    no such call that matters to it.
    """

    kind: NameKind
    file: str
    target: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.file}{f' to {self.target}' if self.target else ''}"


class MarkKind(StrEnum):
    """A kind of note that a program makes about its progress, between two calls."""

    STARTED = "started"
    ACKNOWLEDGED = "acknowledged"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Mark:
    """A note of the program's progress in a recording.

    ``STARTED`` and ``ACKNOWLEDGED`` name an operation by its number. ``SETTLED`` says that
    everything before it has reached the disk, however it was written: it stands for the quiet time
    after a store was set up. Power-cut images begin at the last such mark.
    """

    kind: MarkKind
    operation: int = 0


Entry: TypeAlias = IoCall | NameCall | Mark


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything that happened in a folder: the files at the start, then calls and marks in order.

    The files at the beginning are taken to be on the disk.
    """

    initial: Mapping[str, bytes]
    log: tuple[Entry, ...]
    folders: tuple[str, ...] = ()
    """The folders that were there at the beginning, empty ones included."""
