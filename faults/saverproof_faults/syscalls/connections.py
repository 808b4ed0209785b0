"""The connections of a program to its servers: which held call is about one, and how one breaks.

A connection that breaks is first closed towards the server, and the server's own end is waited for.
By then the server has done all that it was sent, and has rolled back what was unfinished. So the
program's next request meets a server that is not busy with the past.
"""

import os
import select
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from saverproof_faults.syscalls import held_process
from saverproof_faults.syscalls.calls import SystemCall
from saverproof_faults.syscalls.messages import described, received_by, sent_by
from saverproof_faults.syscalls.notifications import HeldCall
from saverproof_faults.syscalls.numbers import CallKind, Trapped

_SOCKET = "socket:"
_SENDS = frozenset({CallKind.SEND, CallKind.WRITE})
_RECEIVES = frozenset({CallKind.RECEIVE, CallKind.READ})
_MSG_PEEK = 2
_PIECE = 1 << 16
"""Most bytes that are read at once."""
_ANSWERS_WITHIN_S = 2.0
"""Seconds for a server to take a message, or to answer it."""
_ENDS_WITHIN_S = 2.0
"""Seconds for a server to end its side. Together with the time for its answer this is less than a
call may take before it counts as hung.
"""
_PORT = struct.Struct("!H")
_NO_SERVER = ("/run/nscd/", "/var/run/nscd/")
"""Sockets that lead to no server: the C library asks there for names."""


class StillBusyError(OSError):
    """The server has not ended its side of a closed connection: its state is unknown."""


@dataclass(slots=True)
class Connections:
    """The connections of the covered threads: stream sockets whose other end has an address."""

    _peers: dict[str, str] = field(default_factory=dict)
    """The server's address, by the name of the socket in /proc; "" for a pair of sockets."""
    _left: dict[str, bytes] = field(default_factory=dict)
    """Bytes that the program still receives from a broken connection before it hears of the
    break.
    """
    _silent: dict[str, socket.socket] = field(default_factory=dict)

    @property
    def disturbed(self) -> bool:
        """True if a connection is broken and the program does not know it yet."""
        return bool(self._left or self._silent)

    def called(self, held: HeldCall, trapped: Trapped) -> tuple[str, SystemCall] | None:
        """Return the socket's name and the call on the connection.

        The result is None if the held call is not about a connection.
        """
        if trapped.fd is None:
            return None
        name = held_process.path_of_descriptor(held.thread, held.descriptor(trapped.fd))
        if not name.startswith(_SOCKET):
            return None
        if trapped.kind is CallKind.CONNECT:
            address = self._to_be_connected(held, trapped)
            return (name, SystemCall(CallKind.CONNECT, address)) if address else None
        peer = self._peer(held, trapped, name)
        if not peer:
            return None
        if trapped.kind in _RECEIVES:
            return name, SystemCall(CallKind.RECEIVE, peer)
        if trapped.kind in _SENDS and (trapped.data is not None or trapped.message is not None):
            data = sent_by(held, trapped)
            return name, SystemCall(
                CallKind.SEND, peer, size=len(data), asks=described(data[:_PIECE])
            )
        return None

    def _peer(self, held: HeldCall, trapped: Trapped, name: str) -> str:
        known = self._peers.get(name)
        if known is None:
            with _same_socket(held, trapped) as found:
                known = _peer_of(found)
            if known is None:
                # The socket is not connected yet.
                return ""
            self._peers[name] = known
        return known

    def _to_be_connected(self, held: HeldCall, trapped: Trapped) -> str:
        assert trapped.data is not None
        assert trapped.size is not None
        with _same_socket(held, trapped) as found:
            if found.type != socket.SOCK_STREAM:
                return ""
        size = held.arguments[trapped.size]
        return _address_in(held_process.memory(held.thread, held.arguments[trapped.data], size))

    # --- breaking ----------------------------------------------------------------------------

    def reset(self, held: HeldCall, trapped: Trapped) -> None:
        """Break the connection before the message is sent.

        Raises:
            OSError: the kernel does not let another process use the socket, or the server is busy.
        """
        with _same_socket(held, trapped) as found:
            _hung_up(found)

    def lose_answer(
        self,
        held: HeldCall,
        trapped: Trapped,
        name: str,
        share: float,
        tell: Callable[[], object],
    ) -> int:
        """Send the message, break the connection after the answer, and return the bytes sent.

        ``share`` is the part of the answer that still arrives. ``tell`` is called before the
        connection breaks.

        Raises:
            OSError: as ``reset`` does.
        """
        data = sent_by(held, trapped)
        with _same_socket(held, trapped) as found:
            _send_all(found, data)
            _readable(found, _ANSWERS_WITHIN_S)
            tell()
            answer = _hung_up(found)
        self._left[name] = answer[: int(len(answer) * share)]
        return len(data)

    def fall_silent(self, held: HeldCall, trapped: Trapped, name: str, call: SystemCall) -> int:
        """Drop this and all later messages on the connection.

        Return the number of bytes that the caller is told were sent.
        """
        if name not in self._silent:
            self._silent[name] = _same_socket(held, trapped)
        return call.size

    def is_silent(self, name: str) -> bool:
        """Return whether messages on this socket are dropped."""
        return name in self._silent

    def end_silences(self) -> None:
        """End the silent connections, so that callers stop waiting for an answer."""
        for found in self._silent.values():
            with found, suppress(OSError):
                found.shutdown(socket.SHUT_RDWR)
        self._silent.clear()

    def left_on(self, held: HeldCall, trapped: Trapped, name: str) -> int | None:
        """Let the call receive what is left on a broken connection, and return the number of bytes.

        The result is 0 if nothing is left, and None if the connection is not broken.
        """
        left = self._left.get(name)
        if left is None:
            return None
        if not left:
            del self._left[name]
            return 0
        done = received_by(held, trapped, left)
        peeks = trapped.flags is not None and held.arguments[trapped.flags] & _MSG_PEEK
        self._left[name] = left if peeks else left[done:]
        return done


def _same_socket(held: HeldCall, trapped: Trapped) -> socket.socket:
    assert trapped.fd is not None
    return socket.socket(
        fileno=held_process.same_open_file(held.thread, held.descriptor(trapped.fd))
    )


def _peer_of(found: socket.socket) -> str | None:
    """Return the address of a stream's other end.

    The result is "" if that has none, and None while the stream is not connected.
    """
    if found.type != socket.SOCK_STREAM:
        return ""
    try:
        peer = found.getpeername()
    except OSError:
        return None
    if found.family == socket.AF_UNIX:
        return _local(peer if isinstance(peer, bytes) else os.fsencode(peer))
    return f"{peer[0]}:{peer[1]}"


def _address_in(data: bytes) -> str:
    """Return the address in a kernel's structure, in the form of ``_peer_of``.

    The result is "" if it is not a server's.
    """
    if len(data) < 2:
        return ""
    match int.from_bytes(data[:2], "little"):
        case socket.AF_UNIX:
            return _local(data[2:].rstrip(b"\0"))
        case socket.AF_INET:
            return f"{socket.inet_ntop(socket.AF_INET, data[4:8])}:{_PORT.unpack(data[2:4])[0]}"
        case socket.AF_INET6:
            text = socket.inet_ntop(socket.AF_INET6, data[8:24])
            return f"{text}:{_PORT.unpack(data[2:4])[0]}"
        case _:
            return ""


def _local(path: bytes) -> str:
    text = path.decode(errors="replace").replace("\0", "@")
    return "" if text.startswith(_NO_SERVER) else text


def _send_all(found: socket.socket, data: bytes) -> None:
    """Send all bytes, even if the socket does not block.

    The program shares the socket, so its mode is not changed: this waits by itself.
    """
    deadline = time.monotonic() + _ANSWERS_WITHIN_S
    while data:
        try:
            data = data[found.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL) :]
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StillBusyError("the server reads nothing more of what it is sent") from None
            _ready(found, select.POLLOUT, _ANSWERS_WITHIN_S)


def _hung_up(found: socket.socket) -> bytes:
    """Close the connection towards the server, wait for its end, and return what it still sent."""
    with suppress(OSError):
        found.shutdown(socket.SHUT_WR)
    pieces: list[bytes] = []
    deadline = time.monotonic() + _ENDS_WITHIN_S
    try:
        while (left := deadline - time.monotonic()) > 0:
            if not _readable(found, left):
                continue
            piece = found.recv(_PIECE, socket.MSG_DONTWAIT)
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)
    except BlockingIOError:
        # Another thread of the program has closed it already.
        pass
    except OSError:
        return b"".join(pieces)
    finally:
        with suppress(OSError):
            found.shutdown(socket.SHUT_RDWR)
    raise StillBusyError("the server has not ended the connection that was closed towards it")


def _readable(found: socket.socket, within_s: float) -> bool:
    return _ready(found, select.POLLIN, within_s)


def _ready(found: socket.socket, events: int, within_s: float) -> bool:
    poll = select.poll()
    poll.register(found, events)
    return bool(poll.poll(within_s * 1000))
