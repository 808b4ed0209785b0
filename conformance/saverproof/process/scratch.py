"""Temporary folders that are gone afterwards, also when a run is broken off."""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new private folder, removed at the end with whatever can be removed of its content.

    The name is known before the folder is: an interrupt often arrives while a folder is made, and
    ``tempfile`` then leaves it behind.
    """
    folder = Path(tempfile.gettempdir()) / f"saverproof-{secrets.token_hex(12)}"
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
