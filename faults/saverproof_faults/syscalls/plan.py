"""What is to happen at which system call."""

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from saverproof_faults.io.plan import Extent, check_place
from saverproof_faults.syscalls.calls import NETWORK, SystemCall
from saverproof_faults.syscalls.numbers import CallKind


class CallFailure(StrEnum):
    """What a call is made to end with."""

    IO_ERROR = "I/O error"
    DISK_FULL = "disk full"
    SHORT_WRITE = "short write"
    """Half of the bytes are written, and the call says so."""
    KILLED = "killed"
    """The process is killed before the call happens."""
    KILLED_WRITING = "killed in the middle of a write"
    """The process is killed when all pages of a write but the last are written."""
    KILLED_SENDING = "killed at a message"
    """The process is killed before it sends, and the server has seen the end of its connection."""
    RESET = "connection reset"
    """The connection is reset instead of a send, or refused where it is to be made."""
    ANSWER_LOST = "answer lost"
    """The server has done what it was sent, and the connection is reset before its answer."""
    ANSWER_CUT = "answer cut"
    """The same, and the first half of the answer arrives."""
    SILENCE = "silence"
    """The server does not answer any more, and the connection stays."""
    TOLD = "told"
    """Who is to be told of the call is told, and it goes on."""

    @property
    def error(self) -> int:
        """The errno that the caller gets, 0 for none."""
        return _ERRORS.get(self, 0)


_ERRORS = {
    CallFailure.IO_ERROR: errno.EIO,
    CallFailure.DISK_FULL: errno.ENOSPC,
    CallFailure.RESET: errno.ECONNRESET,
}
NETWORK_FAILURES = frozenset(
    {CallFailure.RESET, CallFailure.ANSWER_LOST, CallFailure.ANSWER_CUT, CallFailure.SILENCE}
    | {CallFailure.KILLED_SENDING, CallFailure.TOLD}
)
"""What happens to connections: their places are counted apart from those of files."""
_NEEDS_ROOM = frozenset(
    {CallKind.WRITE, CallKind.SYNC, CallKind.ALLOCATE, CallKind.RENAME}
    | {CallKind.FOLDER, CallKind.LINK, CallKind.MAKE_FILE}
)


@dataclass(frozen=True, slots=True)
class CallFault:
    """Fail the ``place``-th call after arming, counted from 1, of all kinds or those of ``kind``.

    Places of what happens to connections are their openings and sends, those of all else are calls
    on files. With ``file``, only calls on that file are counted, by its path relative to the
    folder. A full
    disk refuses what needs room: writes, syncs, new names; it lets go of what is old. ``tells`` is
    the path of a unix socket and lines to send there, each of which is answered by one, before a
    connection breaks: who listens may end or stop the server.
    """

    place: int
    failure: CallFailure = CallFailure.IO_ERROR
    extent: Extent = Extent.ONCE
    kind: CallKind | None = None
    file: str = ""
    tells: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_place(self.place)

    def counts(self, call: SystemCall) -> bool:
        """Whether the call is one of those among which the place is."""
        if (call.kind in NETWORK) is not (self.failure in NETWORK_FAILURES):
            return False
        return self.kind in (None, call.kind) and self.file in ("", call.file, call.target)

    def hits(self, call: SystemCall, number: int) -> bool:
        """Whether the ``number``-th counted call is to fail."""
        reached = number >= self.place if self.extent is Extent.ONWARDS else number == self.place
        return reached and can_fail(call, self.failure)

    def is_spent(self, counted: int) -> bool:
        """Whether nothing will be hit any more after so many counted calls."""
        return self.extent is Extent.ONCE and counted >= self.place

    def as_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        kind = None if self.kind is None else self.kind.value
        return {
            "place": self.place,
            "failure": self.failure.value,
            "extent": self.extent.value,
            "kind": kind,
            "file": self.file,
            "tells": self.tells,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of ``as_data``."""
        return cls(
            data["place"],
            CallFailure(data["failure"]),
            Extent(data["extent"]),
            None if data["kind"] is None else CallKind(data["kind"]),
            data["file"],
            tuple(data["tells"]),
        )


def can_fail(call: SystemCall, failure: CallFailure) -> bool:
    """Whether a call can end so."""
    match failure:
        case CallFailure.IO_ERROR:
            # It cannot say so: what it could not do, nobody hears of.
            return call.kind is not CallKind.SYNC_ALL
        case CallFailure.DISK_FULL:
            return call.kind in _NEEDS_ROOM or (call.kind is CallKind.OPEN and call.creates)
        case CallFailure.SHORT_WRITE:
            return call.divisible and call.size > 1
        case CallFailure.KILLED_WRITING:
            return call.to_page_end > 0
        case CallFailure.ANSWER_LOST | CallFailure.ANSWER_CUT | CallFailure.SILENCE:
            return call.kind is CallKind.SEND
        case _:
            return True
