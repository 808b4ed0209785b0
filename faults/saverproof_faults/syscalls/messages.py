"""The bytes that a held call sends, and bytes that are given to a call that receives."""

import struct
from collections.abc import Iterator

from saverproof_faults.syscalls import held_process
from saverproof_faults.syscalls.notifications import HeldCall
from saverproof_faults.syscalls.numbers import Trapped

_PIECES_AT, _CONTROL_SIZE_AT = 16, 40
"""Offsets in a message (struct msghdr with 64 bits) of its pieces and of the size of its control
data. The flags of the answer follow that size.
"""
_POINTED, _NO_CONTROL = struct.Struct("<QQ"), struct.Struct("<QQ").pack(0, 0)
_COMMAND_SHOWN = 24
"""Characters that are shown of a command's name, which comes from the program."""
_TLS_RECORDS = (b"\x14\x03", b"\x15\x03", b"\x16\x03", b"\x17\x03")
"""The first bytes of TLS records: a kind, and the version."""


def sent_by(held: HeldCall, trapped: Trapped) -> bytes:
    """Return the bytes that the call would send."""
    return b"".join(
        held_process.memory(held.thread, address, size) for address, size in _pieces(held, trapped)
    )


def received_by(held: HeldCall, trapped: Trapped, given: bytes) -> int:
    """Give bytes to a call that receives, as many as it has room for, and return their number."""
    done = 0
    for address, size in _pieces(held, trapped):
        piece = given[done : done + size]
        held_process.overwrite(held.thread, address, piece)
        done += len(piece)
    if trapped.message is not None:
        beside = held.arguments[trapped.message] + _CONTROL_SIZE_AT
        held_process.overwrite(held.thread, beside, _NO_CONTROL)
    return done


def _pieces(held: HeldCall, trapped: Trapped) -> Iterator[tuple[int, int]]:
    """Yield the address and size of each piece of memory that the call is about."""
    if trapped.message is not None:
        at = held.arguments[trapped.message] + _PIECES_AT
        yield from held_process.pieces_at(
            held.thread, *_POINTED.unpack(held_process.memory(held.thread, at, _POINTED.size))
        )
        return
    assert trapped.data is not None
    assert trapped.size is not None
    address, size = held.arguments[trapped.data], held.arguments[trapped.size]
    if trapped.vector:
        yield from held_process.pieces_at(held.thread, address, size)
    else:
        yield address, size


def described(data: bytes) -> str:
    """Describe a message without any value, which may be a password.

    The result is the names of Redis commands if they can be recognized, else the number of bytes.
    """
    if data.startswith(_TLS_RECORDS):
        return f"{len(data)} bytes of TLS"
    names: list[str] = []
    for name in _commands(data):
        if not names or names[-1].partition(" ")[0] != name:
            names.append(name)
        else:
            times = names[-1].partition("×")[2]
            names[-1] = f"{name} ×{int(times or 1) + 1}"
    return ", ".join(names) if names else f"{len(data)} bytes"


def _commands(data: bytes) -> Iterator[str]:
    """Yield the names of Redis commands: each command is an array of texts with their lengths."""
    at = 0
    while data[at : at + 1] == b"*":
        try:
            end = data.index(b"\r\n", at)
            count = int(data[at + 1 : end])
            at = end + 2
            for number in range(count):
                end = data.index(b"\r\n", at)
                size = int(data[at + 1 : end])
                if number == 0:
                    name = data[end + 2 : end + 2 + size].decode("ascii", "replace").upper()
                    yield name[:_COMMAND_SHOWN]
                at = end + 2 + size + 2
        except ValueError:
            # The message is cut within a command, or is no message of Redis.
            return
