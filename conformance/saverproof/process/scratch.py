"""Temporary folders that are gone afterwards, also when a run is broken off. What a run leaves that
is killed with all its processes at once, the next one removes.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from saverproof_faults.abandoned import claim, remove_abandoned

_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30
_PREFIX = "saverproof-run-"


def new_token() -> str:
    """What the scratch folders of one run have in their names."""
    return secrets.token_hex(6)


def remove_scratch(token: str) -> None:
    """Remove the folders that processes of a run left behind because they were killed."""
    for root in (Path(tempfile.gettempdir()), _MEMORY):
        for folder in root.glob(f"{_PREFIX}{token}-*"):
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
    root = root or Path(tempfile.gettempdir())
    _remove_abandoned(root)
    folder = root / f"{_PREFIX}{token or new_token()}-{secrets.token_hex(6)}"
    try:
        folder.mkdir(mode=0o700)
        claimed = claim(folder)
        try:
            yield folder
        finally:
            os.close(claimed)
    finally:
        try:
            # Threads and processes of a saver may still be writing there.
            shutil.rmtree(folder, ignore_errors=True)
        except KeyboardInterrupt:
            shutil.rmtree(folder, ignore_errors=True)
            raise


@cache
def _remove_abandoned(root: Path) -> None:
    """Once in a process: what runs left there that were killed."""
    remove_abandoned(root, f"{_PREFIX}*")
