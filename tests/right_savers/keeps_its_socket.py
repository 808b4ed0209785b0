"""A saver that keeps a unix socket beside its store, on which others may hear of changes."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from uuid import uuid4

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


def listening(folder: Path) -> socket.socket:
    """A socket in the folder, in the place of the one that a closed saver has left there."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    new = folder / f"{uuid4()}.sock"
    inside = os.open(folder, os.O_RDONLY)
    try:
        # The path of a socket may have a hundred bytes or so: folders may have longer ones.
        listener.bind(f"/proc/self/fd/{inside}/{new.name}")
    finally:
        os.close(inside)
    new.chmod(0o600)
    new.replace(folder / "changes.sock")
    return listener


@right(
    "a unix socket stands beside the database, and stays there when the saver is closed",
    about={"resources"},
)
class KeepsItsSocket(SqliteReference):
    def __init__(self, folder: Path, *, serde: object = None) -> None:
        super().__init__(folder, serde=serde)
        self.listener = listening(folder)

    def close(self) -> None:
        super().close()
        if not self.is_clone:
            self.listener.close()
