"""Temporary folders that are removed at the end, even if a run is interrupted.

If a run is killed with all its processes at once, the next run removes its folders.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

from saverproof_faults.abandoned import claim, remove_abandoned

_MEMORY = Path("/dev/shm")
_ROOM = 1 << 30
"""The bytes that must be free in a file system in memory: with less, a run's stores could fill the
machine's memory.
"""
_PREFIX = "saverproof-run-"
_LONGEST_ROOT = 30
"""The longest path of a temporary folder in which a process gets one of its own, which is 42
characters longer: a socket's path has 107 on Linux, and that of a ``multiprocessing.Manager`` takes
32 below its folder.
"""


class _Process:
    """The run that this process belongs to; ``run`` is its token, or "" if there is none.

    ``temporary`` is the folder that it was given for temporary files, or None. ``not_chosen`` is
    the same folder if the user has not set TMPDIR: a TMPDIR that names it is then not the user's
    choice.
    """

    run = ""
    temporary: str | None = None
    not_chosen: str | None = None


def new_token() -> str:
    """Return a random text for the names of one run's scratch folders."""
    return secrets.token_hex(6)


def belong_to(token: str) -> None:
    """Give the scratch folders of this process the token of a run from now on.

    The end of that run then removes them, even if this process is killed.
    """
    _Process.run = token


def remove_scratch(token: str) -> None:
    """Remove the folders that processes of a run left behind because they were killed."""
    for root in (Path(tempfile.gettempdir()), _MEMORY):
        for folder in root.glob(f"{_PREFIX}{token}-*"):
            shutil.rmtree(folder, ignore_errors=True)


def in_memory() -> Path | None:
    """Return the folder of a file system in memory, or None if there is none with room.

    Programs and killed processes leave the same there as on a disk, without its waits. It is not
    used if TMPDIR is set: then the user has chosen another place.
    """
    if os.environ.get("TMPDIR") != _Process.not_chosen:
        return None
    if not _MEMORY.is_dir() or not os.access(_MEMORY, os.W_OK | os.X_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free >= _ROOM else None


@contextmanager
def scratch_folder(token: str | None = None, root: Path | None = None) -> Iterator[Path]:
    """Make a new private folder, and remove it with its contents at the end of the block.

    ``token`` is the run's token, by default that of the run to which this process belongs: the end
    of the run removes the folder if nobody did before. ``root`` is the parent folder, by default
    the system's temporary folder.

    The name is chosen before the folder is made: an interrupt often arrives in between, and
    ``tempfile`` then leaves the folder behind.
    """
    root = root or Path(tempfile.gettempdir())
    _remove_abandoned(root)
    folder = root / f"{_PREFIX}{token or _Process.run or new_token()}-{secrets.token_hex(6)}"
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


@contextmanager
def temporary_folder(token: str) -> Iterator[Path]:
    """Make a folder for the temporary files of a child process and of all that it starts.

    If this process was itself given such a folder, yield that one: savers of one store may share
    what they keep there, such as locks. If the name of a new folder would be too long for a saver's
    socket in it, yield the system's folder.
    """
    if _Process.temporary is not None:
        yield Path(_Process.temporary)
    elif len(tempfile.gettempdir()) > _LONGEST_ROOT:
        yield Path(tempfile.gettempdir())
    else:
        with scratch_folder(token) as folder:
            yield folder


def keep_temporary_files_in(folder: str) -> None:
    """Have temporary files of this process, and of those that it starts, made in this folder."""
    if "TMPDIR" not in os.environ:
        _Process.not_chosen = folder
    _Process.temporary = tempfile.tempdir = os.environ["TMPDIR"] = folder


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Have temporary files made in this folder within the block."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (
        mock.patch.object(tempfile, "tempdir", str(folder)),
        mock.patch.dict(os.environ, {"TMPDIR": str(folder)}),
    ):
        yield


@cache
def _remove_abandoned(root: Path) -> None:
    """Remove the folders that killed runs left in ``root``, once in a process."""
    remove_abandoned(root, f"{_PREFIX}*")
