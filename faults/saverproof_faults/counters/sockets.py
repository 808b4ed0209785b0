"""Bytes that this process sends and receives over TCP, as the system counts them for sockets."""

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from saverproof_faults.counters.process_io import Transferred

_DESCRIPTORS = Path("/proc/self/fd")
_TCP_INFO_BYTES = 232
"""Room for all that Linux tells of a socket since 4.19, of which two numbers are read."""
_RECEIVED, _SENT = 128, 200
"""Where tcpi_bytes_received and tcpi_bytes_sent stand in struct tcp_info."""


class SocketIo:
    """What passes over the connections that are open when it is asked.

    A connection that is opened and closed between two looks is not seen.
    """

    def begin(self) -> None:
        """Count from here."""
        self._before = dict(_transferred())

    @property
    def connections(self) -> int:
        """The number of connections that were open at ``begin``."""
        return len(self._before)

    def passed(self) -> Transferred:
        """What passed since ``begin``."""
        read = written = 0
        for inode, now in _transferred():
            before = self._before.get(inode, Transferred(0, 0))
            read += now.read - before.read
            written += now.written - before.written
        return Transferred(read, written)


def _transferred() -> Iterator[tuple[str, Transferred]]:
    """Yield each TCP connection of this process, once, and what has passed over it."""
    seen = set()
    for name in os.listdir(_DESCRIPTORS):
        with suppress(OSError):
            inode = os.readlink(_DESCRIPTORS / name)
            if inode.startswith("socket:") and inode not in seen:
                seen.add(inode)
                with socket.socket(fileno=os.dup(int(name))) as connection:
                    told = _told(connection)
                if told is not None:
                    yield inode, told


def _told(connection: socket.socket) -> Transferred | None:
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
    if len(told) < _SENT + 8:
        return None
    (received,) = struct.unpack_from("Q", told, _RECEIVED)
    (sent,) = struct.unpack_from("Q", told, _SENT)
    return Transferred(received, sent)
