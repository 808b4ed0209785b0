"""Get the bytes of a held write, and carry out a part of it on behalf of its caller."""

import os

from saverproof_faults.syscalls import held_process
from saverproof_faults.syscalls.notifications import HeldCall
from saverproof_faults.syscalls.numbers import Trapped


def written_in_part(held: HeldCall, trapped: Trapped, size: int) -> int:
    """Write the first ``size`` bytes to the caller's open file, and return the number written.

    Raises:
        OSError: the kernel does not let another process use the file.
    """
    assert trapped.fd is not None
    assert trapped.data is not None
    data = contents(held, trapped, size)
    file = held_process.same_open_file(held.thread, held.descriptor(trapped.fd))
    try:
        if trapped.offset is None:
            return os.write(file, data)
        return os.pwrite(file, data, held.arguments[trapped.offset])
    finally:
        os.close(file)


def copied(held: HeldCall, trapped: Trapped, size: int) -> bytes:
    """Return the bytes that a held call copies from another file; nothing if that is no plain
    file.
    """
    if trapped.source is None:
        return b""
    source = held.descriptor(trapped.source)
    if not os.path.isfile(f"/proc/{held.thread}/fd/{source}"):
        return b""
    start = held_process.number_at(held.thread, held.arguments[trapped.from_ or 0])
    return held_process.bytes_of(held.thread, source, start, size)


def contents(held: HeldCall, trapped: Trapped, size: int) -> bytes:
    """Return the first ``size`` bytes of a held write."""
    address = held.arguments[trapped.data or 0]
    if not trapped.vector:
        return held_process.memory(held.thread, address, size)
    pieces = held_process.pieces_at(held.thread, address, held.arguments[trapped.size or 0])
    whole = b"".join(held_process.memory(held.thread, *piece) for piece in pieces)
    return whole[:size]
