"""Plans of what happens at an I/O call."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from saverproof_faults.io import codes
from saverproof_faults.io.calls import IoCall, IoKind


class Failure(StrEnum):
    """The failure that the file system reports."""

    IO_ERROR = "I/O error"
    DISK_FULL = "disk full"


class Extent(StrEnum):
    """The duration of the failure."""

    ONCE = "once"
    ONWARDS = "from there on"


_CODES = {
    Failure.IO_ERROR: {
        IoKind.OPEN: codes.CANTOPEN,
        IoKind.WRITE: codes.IOERR_WRITE,
        IoKind.SYNC: codes.IOERR_FSYNC,
        IoKind.TRUNCATE: codes.IOERR_TRUNCATE,
        IoKind.DELETE: codes.IOERR_DELETE,
    },
    # A full disk refuses new bytes, when they are written or when they are flushed. It still gives
    # up old ones, so that truncating and deleting succeed.
    Failure.DISK_FULL: {IoKind.WRITE: codes.FULL, IoKind.SYNC: codes.IOERR_FSYNC},
}


@dataclass(frozen=True, slots=True)
class IoFault:
    """Fail the ``place``-th call after arming.

    Places are counted from 1, over all calls or over those of one kind.

    The engine gets the code that its own VFS would return: SQLITE_IOERR_WRITE, _FSYNC, _TRUNCATE,
    _DELETE, SQLITE_CANTOPEN, or SQLITE_FULL. A full disk fails only writes and syncs: at another
    call the fault does not fire.
    """

    place: int
    failure: Failure = Failure.IO_ERROR
    extent: Extent = Extent.ONCE
    kind: IoKind | None = None

    def __post_init__(self) -> None:
        check_place(self.place)

    def hits(self, call: IoCall, number: int) -> bool:
        """Return whether the ``number``-th counted call fails."""
        if call.kind not in _CODES[self.failure]:
            return False
        return number >= self.place if self.extent is Extent.ONWARDS else number == self.place

    def strike(self, call: IoCall) -> int:
        """Return the code with which the call ends without having happened."""
        return _CODES[self.failure][call.kind]


@dataclass(frozen=True, slots=True)
class IoAction:
    """Run ``action`` just before the ``place``-th call after arming takes effect."""

    place: int
    action: Callable[[IoCall], None]
    kind: IoKind | None = None

    def __post_init__(self) -> None:
        check_place(self.place)

    def hits(self, call: IoCall, number: int) -> bool:
        """Return whether the ``number``-th counted call is the place."""
        return number == self.place

    def strike(self, call: IoCall) -> int:
        """Run the action, and return the code by which the call itself goes on."""
        self.action(call)
        return codes.OK


@dataclass(frozen=True, slots=True)
class IoEach:
    """Run ``action`` just before every call takes effect, to count places and to die at one."""

    action: Callable[[IoCall], None]
    kind: IoKind | None = None

    def hits(self, call: IoCall, number: int) -> bool:
        """Return True: every call is a place."""
        return True

    def strike(self, call: IoCall) -> int:
        """Run the action, and return the code by which the call itself goes on."""
        self.action(call)
        return codes.OK


IoPlan = IoFault | IoAction | IoEach


def check_place(place: int) -> None:
    """Raise ValueError unless ``place`` is a number from 1."""
    if place < 1:
        raise ValueError(f"an I/O place is counted from 1, got {place}")
