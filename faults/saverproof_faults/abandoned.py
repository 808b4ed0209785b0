"""Private folders that whoever comes next removes, if those who used them were killed."""

import fcntl
import os
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

_NEW_S = 60.0
"""How old a folder must be to be removed: it is made a moment before it is claimed."""


def claim(folder: Path) -> int:
    """Say that a folder is in use, for as long as the descriptor that this gives is open."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        # Where nothing can be locked, nothing will be removed either.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def remove_abandoned(parent: Path, pattern: str) -> None:
    """Remove folders of this user below ``parent`` that nobody claims any more.

    ``pattern`` names them, and only such as are claimed by whoever uses them.
    """
    for folder in parent.glob(pattern):
        # Another process may be doing the same.
        with suppress(OSError):
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return False
    if time.time() - found.st_mtime < _NEW_S:
        return False
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
