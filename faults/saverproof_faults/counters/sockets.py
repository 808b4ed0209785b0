"""Count the bytes that this process sends and receives over TCP, as Linux counts them."""

import os
import socket
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress

from saverproof_faults.counters.process_io import Transferred

TCP_INFO_BYTES = 232
"""Bytes of struct tcp_info since Linux 4.19. Two numbers of it are read."""
RECEIVED, SENT = 128, 200
"""Offsets of tcpi_bytes_received and tcpi_bytes_sent in struct tcp_info."""


class SocketIo:
    """A counter of the bytes that pass over this process's connections.

    A connection that is both opened and closed after ``begin`` is not counted.
    """

    def begin(self) -> None:
        """Note the bytes that each connection has moved so far."""
        self._before = dict(_transferred())

    @property
    def connections(self) -> int:
        """The number of connections that were open at ``begin``."""
        return len(self._before)

    def passed(self) -> Transferred:
        """Return the bytes that were received and sent since ``begin``."""
        read = written = 0
        for inode, now in _transferred():
            moved = now.since(self._before.get(inode, Transferred(0, 0)))
            read += moved.read
            written += moved.written
        return Transferred(read, written)


def _transferred() -> Iterator[tuple[int, Transferred]]:
    """Yield the inode of each TCP connection of this process, and its bytes so far."""
    seen = set()
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError):
            what = os.fstat(descriptor)
            if stat.S_ISSOCK(what.st_mode) and what.st_ino not in seen:
                seen.add(what.st_ino)
                with socket.socket(fileno=os.dup(descriptor)) as connection:
                    told = _told(connection)
                if told is not None:
                    yield what.st_ino, told


def _told(connection: socket.socket) -> Transferred | None:
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
    if len(told) < SENT + 8:
        return None
    (received,) = struct.unpack_from("Q", told, RECEIVED)
    (sent,) = struct.unpack_from("Q", told, SENT)
    return Transferred(received, sent)
