"""The kernel's interface to the listener of a filter: take a held call, and answer it."""

import errno
import fcntl
import struct
from dataclasses import dataclass

_TAKE, _ANSWER, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
_WAKE_ON_SAME_PROCESSOR = 1
"""The kernel's flag SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP."""
_GO_ON = 1
"""The kernel's flag SECCOMP_USER_NOTIF_FLAG_CONTINUE."""
_TAKEN, _ANSWERED = struct.Struct("<QIIiIQ6Q"), struct.Struct("<QqiI")


@dataclass(slots=True)
class HeldCall:
    """A call of the thread ``thread`` that waits for its answer."""

    id: int
    thread: int
    number: int
    arguments: tuple[int, ...]

    def descriptor(self, position: int) -> int:
        """Return an argument that is a file descriptor: 32 bits with a sign."""
        value = self.arguments[position] & 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value


def prefer_speed(listener: int) -> None:
    """Ask the kernel to wake waiting threads on the waking processor (Linux 6.6 or newer)."""
    try:
        fcntl.ioctl(listener, _SET_FLAGS, _WAKE_ON_SAME_PROCESSOR)
    except OSError:
        return


def take(listener: int) -> HeldCall | None:
    """Return the next held call, or None if it was interrupted or its process has ended."""
    buffer = bytearray(_TAKEN.size)
    try:
        fcntl.ioctl(listener, _TAKE, buffer, True)
    except OSError as problem:
        if problem.errno in (errno.EINTR, errno.ENOENT):
            return None
        raise
    number, thread, _, call, _, _, *arguments = _TAKEN.unpack(buffer)
    return HeldCall(number, thread, call, tuple(arguments))


def go_on(listener: int, call: HeldCall) -> None:
    """Let the call happen."""
    _answer(listener, _ANSWERED.pack(call.id, 0, 0, _GO_ON))


def end(listener: int, call: HeldCall, *, value: int = 0, error: int = 0) -> None:
    """End the call without letting it happen: with an errno, or as if it had returned ``value``."""
    _answer(listener, _ANSWERED.pack(call.id, value, -error, 0))


def _answer(listener: int, data: bytes) -> None:
    try:
        fcntl.ioctl(listener, _ANSWER, data)
    except OSError as problem:
        # A signal has interrupted the call, or its process was killed: nobody waits for this
        # answer.
        if problem.errno != errno.ENOENT:
            raise
