"""What nodes leave behind outside of the store: which of them were executed, and how often."""

from __future__ import annotations

import os
import threading
from pathlib import Path


class Notes(list[str]):
    """Notes in memory: called with a node's name, it gives how often that was noted, now included.

    ``gate`` opens when the caller of the graph has seen a part of the stream.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def __call__(self, name: str) -> int:
        self.append(name)
        return self.count(name)


class FileNotes:
    """Notes in a file, which are there after the process was killed; one name a line.

    A line is one write to a descriptor opened with O_APPEND, so that threads and processes do not
    mix theirs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gate = threading.Event()

    def __call__(self, name: str) -> int:
        descriptor = os.open(
            self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            os.write(descriptor, f"{name}\n".encode())
        finally:
            os.close(descriptor)
        return self.names().count(name)

    def names(self) -> list[str]:
        """The names noted so far, oldest first."""
        try:
            return self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
