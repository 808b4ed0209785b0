"""Remove private folders whose owners were killed before they could do it themselves.

An owner claims its folder for as long as it lives; the next process that needs such a folder
removes the unclaimed ones.
"""

import fcntl
import os
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

_NEW_S = 60.0
"""Folders younger than this, in seconds, are left alone: an owner makes its folder a moment before
it claims it.
"""


def claim(folder: Path) -> int:
    """Mark a folder as in use until the returned descriptor is closed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):
        # A file system without locks has no claims: `remove_abandoned` cannot lock such a folder
        # either, and leaves it.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def remove_abandoned(parent: Path, pattern: str) -> None:
    """Remove this user's unclaimed folders below ``parent``.

    ``pattern`` is a glob of their names. It must match only folders that their owners claim.
    """
    for folder in parent.glob(pattern):
        # Another process may be removing the same folder.
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
