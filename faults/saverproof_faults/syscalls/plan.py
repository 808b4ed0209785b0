"""Plans of what happens at a system call."""

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from saverproof_faults.io.plan import Extent, check_place
from saverproof_faults.syscalls.calls import NETWORK, SystemCall
from saverproof_faults.syscalls.numbers import CallKind


class CallFailure(StrEnum):
    """The ways in which a call is made to end."""

    IO_ERROR = "I/O error"
    DISK_FULL = "disk full"
    SHORT_WRITE = "short write"
    """Half of the bytes are written, and the call reports that."""
    SYNC_FAILED = "sync failed"
    """A sync of a file reports an I/O error. Syncs of folders are not counted: names are in the
    file system's journal, and no engine could recover from their loss.
    """
    KILLED = "killed"
    """The process is killed before the call happens."""
    KILLED_WRITING = "killed in the middle of a write"
    """The process is killed when all pages of a write but the last are written."""
    KILLED_SENDING = "killed at a message"
    """The process is killed before it sends, after the server has seen the end of its
    connection.
    """
    RESET = "connection reset"
    """The connection is reset before a message is sent, or refused when it is opened."""
    ANSWER_LOST = "answer lost"
    """The server has done what it was sent; the connection is reset before its answer arrives."""
    ANSWER_CUT = "answer cut"
    """The server has done what it was sent; the connection is reset after half of its answer."""
    SILENCE = "silence"
    """The server does not answer any more, and the connection stays open."""
    TOLD = "told"
    """The call goes on, after the receiver in the plan was told of it."""

    @property
    def error(self) -> int:
        """The errno that the caller gets; 0 for none."""
        return _ERRORS.get(self, 0)


_ERRORS = {
    CallFailure.IO_ERROR: errno.EIO,
    CallFailure.DISK_FULL: errno.ENOSPC,
    CallFailure.SYNC_FAILED: errno.EIO,
    CallFailure.RESET: errno.ECONNRESET,
}
NETWORK_FAILURES = frozenset(
    {CallFailure.RESET, CallFailure.ANSWER_LOST, CallFailure.ANSWER_CUT, CallFailure.SILENCE}
    | {CallFailure.KILLED_SENDING, CallFailure.TOLD}
)
"""Faults of connections. Their places are counted apart from those of files."""
_NEEDS_ROOM = frozenset(
    {CallKind.WRITE, CallKind.SYNC, CallKind.ALLOCATE, CallKind.RENAME}
    | {CallKind.FOLDER, CallKind.LINK, CallKind.MAKE_FILE}
)


@dataclass(frozen=True, slots=True)
class CallFault:
    """Fail the ``place``-th call after arming, counted from 1 over all kinds or those of ``kind``.

    Faults of connections have the openings and sends as places; all other faults have the calls on
    files. With ``file``, a path relative to the folder, only calls on that file are counted. A full
    disk refuses what needs room (writes, syncs, new names) and still gives up what is old.
    ``tells`` is the path of a unix socket and lines to send there before a connection breaks, each
    of which is answered by a line: the receiver may end or stop the server.
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
        """Return whether the call is one of those that ``place`` is a number of."""
        if (call.kind in NETWORK) is not (self.failure in NETWORK_FAILURES):
            return False
        if self.failure is CallFailure.SYNC_FAILED and not can_fail(call, self.failure):
            return False
        return self.kind in (None, call.kind) and self.file in ("", call.file, call.target)

    def hits(self, call: SystemCall, number: int) -> bool:
        """Return whether the ``number``-th counted call fails."""
        reached = number >= self.place if self.extent is Extent.ONWARDS else number == self.place
        return reached and can_fail(call, self.failure)

    def is_spent(self, counted: int) -> bool:
        """Return whether no further call will fail after so many counted calls."""
        return self.extent is Extent.ONCE and counted >= self.place

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
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
        """Make a fault from the result of ``as_data``."""
        return cls(
            data["place"],
            CallFailure(data["failure"]),
            Extent(data["extent"]),
            None if data["kind"] is None else CallKind(data["kind"]),
            data["file"],
            tuple(data["tells"]),
        )


def can_fail(call: SystemCall, failure: CallFailure) -> bool:
    """Return whether a call can end in this way."""
    match failure:
        case CallFailure.IO_ERROR:
            # A sync of everything reports no error: nobody hears of what it could not do.
            return call.kind is not CallKind.SYNC_ALL
        case CallFailure.DISK_FULL:
            return call.kind in _NEEDS_ROOM or (call.kind is CallKind.OPEN and call.creates)
        case CallFailure.SYNC_FAILED:
            return call.kind is CallKind.SYNC and not (call.folder or call.deleted)
        case CallFailure.SHORT_WRITE:
            return call.divisible and call.size > 1
        case CallFailure.KILLED_WRITING:
            return call.to_page_end > 0
        case CallFailure.ANSWER_LOST | CallFailure.ANSWER_CUT | CallFailure.SILENCE:
            return call.kind is CallKind.SEND
        case _:
            return True
