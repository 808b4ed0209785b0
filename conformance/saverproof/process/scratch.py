"""Temporary folders that are gone afterwards, also when a run is broken off."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30


def new_token() -> str:
    """What the scratch folders of one run have in their names."""
    return secrets.token_hex(6)


def remove_scratch(token: str) -> None:
    """Remove the folders that processes of a run left behind because they were killed."""
    for root in (Path(tempfile.gettempdir()), _MEMORY):
        for folder in root.glob(f"saverproof-{token}-*"):
            shutil.rmtree(folder, ignore_errors=True)


def in_memory() -> Path | None:
    """A file system in memory, if there is one with room.

    What a program shows, and what a killed process leaves, is the same there, and nobody waits
    for a disk. Whoever sets TMPDIR chooses another place.
    """
    if "TMPDIR" in os.environ or not _MEMORY.is_dir() or not os.access(_MEMORY, os.W_OK | os.X_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free >= _ROOM else None


@contextmanager
def scratch_folder(token: str | None = None, root: Path | None = None) -> Iterator[Path]:
    """A new private folder, removed at the end with whatever can be removed of its content.

    ``token`` is that of the run it belongs to, whose end removes it if nobody else did; ``root``
    is where it is made, if not where temporary files go.

    The name is known before the folder is: an interrupt often arrives while a folder is made, and
    ``tempfile`` then leaves it behind.
    """
    name = f"saverproof-{token or new_token()}-{secrets.token_hex(6)}"
    folder = (root or Path(tempfile.gettempdir())) / name
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        try:
            # Threads and processes of a saver may still be writing there.
            shutil.rmtree(folder, ignore_errors=True)
        except KeyboardInterrupt:
            shutil.rmtree(folder, ignore_errors=True)
            raise
