"""JSON messages over a stream socket, each preceded by its length."""

import json
import socket
import struct

from saverproof_faults.kill.plan import Json

_LENGTH = struct.Struct("<I")


def send(channel: socket.socket, message: Json) -> None:
    """Send one message.

    Raises:
        OSError: the other end is gone.
    """
    data = json.dumps(message).encode()
    channel.sendall(_LENGTH.pack(len(data)) + data)


def receive(channel: socket.socket) -> Json:
    """Return the next message.

    Raises:
        EOFError: the other end is gone.
        TimeoutError: the socket's timeout has passed.
    """
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size))
    return json.loads(_exactly(channel, length))


def _exactly(channel: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        try:
            piece = channel.recv(size - len(data))
        except ConnectionResetError:
            piece = b""
        if not piece:
            raise EOFError("the other end is gone")
        data += piece
    return bytes(data)
