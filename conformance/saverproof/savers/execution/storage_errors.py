"""Reports missing disk space or permissions as one line for the user, without a traceback."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from saverproof.errors import SaverproofError
from saverproof_faults.kill import HarnessError

_NO_ROOM = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
)


class NoRoomError(SaverproofError):
    """The folder for workspaces cannot be used."""


@contextmanager
def room_in(folder: str) -> Iterator[None]:
    """Turn errors of the machine within the block into one clear line.

    They concern the kit's own files: savers are called elsewhere.

    Raises:
        NoRoomError: the disk is full, or the folder may not be written to.
        SaverproofError: no process could be started.
    """
    try:
        yield
    except OSError as error:
        number = _number(error)
        if number not in _NO_ROOM:
            raise
        found = os.strerror(number)
        raise NoRoomError(
            f"workspaces below {folder}: found {found!r}, expected room and permission to write "
            "(TMPDIR names another place)"
        ) from error
    except HarnessError as error:
        raise SaverproofError(f"processes to be killed: {error}") from error


def _number(error: OSError) -> int:
    """Return the error's number. If a folder was copied, it is that of the first error."""
    if not isinstance(error, shutil.Error):
        return error.errno or 0
    why = str(error.args[0])
    return next((number for number in _NO_ROOM if os.strerror(number) in why), 0)
