"""Temporary folders that are gone afterwards, also when a run is broken off."""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def new_token() -> str:
    """What the scratch folders of one run have in their names."""
    return secrets.token_hex(6)


def remove_scratch(token: str) -> None:
    """Remove the folders that processes of a run left behind because they were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"saverproof-{token}-*"):
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_folder(token: str | None = None) -> Iterator[Path]:
    """A new private folder, removed at the end with whatever can be removed of its content.

    ``token`` is that of the run it belongs to, whose end removes it if nobody else did.

    The name is known before the folder is: an interrupt often arrives while a folder is made, and
    ``tempfile`` then leaves it behind.
    """
    folder = (
        Path(tempfile.gettempdir()) / f"saverproof-{token or new_token()}-{secrets.token_hex(6)}"
    )
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
