"""Records, outside of the store, which nodes were executed, and how often."""

from __future__ import annotations

import os
import threading
from pathlib import Path


class Notes(list[str]):
    """Notes in memory. A call with a node's name adds it, and returns how often it has been added.

    ``gate`` opens when the caller of the graph has seen a part of the stream.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def __call__(self, name: str) -> int:
        self.append(name)
        return self.count(name)


def append_line(path: Path, line: str) -> None:
    """Append a line to a file, where it survives the death of the process.

    The line is one write to a descriptor opened with O_APPEND, so that the lines of several threads
    and processes do not mix.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


class FileNotes:
    """Notes in a file, one name a line, with those methods of a list that a player needs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gate = threading.Event()

    def __call__(self, name: str) -> int:
        append_line(self.path, name)
        return self.names().count(name)

    def __len__(self) -> int:
        return len(self.names())

    def __getitem__(self, which: slice) -> list[str]:
        return self.names()[which]

    def names(self) -> list[str]:
        """Return the names noted so far, oldest first."""
        try:
            return self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
