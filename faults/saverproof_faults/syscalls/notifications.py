"""The kernel's interface to the listener of a filter: taking a held call, and answering it."""

import errno
import fcntl
import struct
from dataclasses import dataclass

_TAKE, _ANSWER, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
_WAKE_ON_SAME_PROCESSOR = 1
_GO_ON = 1
_TAKEN, _ANSWERED = struct.Struct("<QIIiIQ6Q"), struct.Struct("<QqiI")


@dataclass(slots=True)
class HeldCall:
    """A call that waits for its answer, of the thread ``thread``."""

    id: int
    thread: int
    number: int
    arguments: tuple[int, ...]

    def descriptor(self, position: int) -> int:
        """An argument that is a file descriptor, which has 32 bits and a sign."""
        value = self.arguments[position] & 0xFFFFFFFF
        return value - (1 << 32) if value >> 31 else value


def prefer_speed(listener: int) -> None:
    """Wake who waits on the processor that wakes it; kernels before 6.6 know nothing of that."""
    try:
        fcntl.ioctl(listener, _SET_FLAGS, _WAKE_ON_SAME_PROCESSOR)
    except OSError:
        return


def take(listener: int) -> HeldCall | None:
    """The next held call; None if it was interrupted or its process has ended meanwhile."""
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
    """End the call without its happening: with an errno, or else as if it had given ``value``."""
    _answer(listener, _ANSWERED.pack(call.id, value, -error, 0))


def _answer(listener: int, data: bytes) -> None:
    try:
        fcntl.ioctl(listener, _ANSWER, data)
    except OSError as problem:
        # Interrupted by a signal, or killed: nobody waits for this answer.
        if problem.errno != errno.ENOENT:
            raise
