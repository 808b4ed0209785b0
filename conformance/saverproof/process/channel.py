"""Messages between the pytest process and its judge: one line of ASCII JSON each, over a socket.

Not over stdout: savers print.
"""

import json
import selectors
import socket
import threading
from typing import Any

Message = dict[str, Any]


# select() takes no descriptor above 1,023, and a saver may have left as many open.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class MessageChannel:
    """One end of a connection. Several threads may send; only one may receive."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._arrivals: selectors.BaseSelector = _Selector()
        self._arrivals.register(connection, selectors.EVENT_READ)
        self._received = bytearray()
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Send ``message``, plain data.

        Raises:
            OSError: the other end is gone.
        """
        line = json.dumps(message, ensure_ascii=True).encode("ascii") + b"\n"
        with self._lock:
            self._socket.sendall(line)

    def receive(self, timeout_s: float | None = None) -> Message | None:
        """Return the next message, or None if none arrives within ``timeout_s`` seconds.

        Without a time-out, wait for ever.

        Raises:
            EOFError: the other end is gone.
        """
        end = self._received.find(b"\n")
        while end < 0:
            if not self._arrivals.select(timeout_s):
                return None
            try:
                part = self._socket.recv(1 << 16)
            except ConnectionResetError:
                part = b""
            if not part:
                raise EOFError("the other end of the channel is gone")
            known = len(self._received)
            self._received += part
            end = self._received.find(b"\n", known)
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        message: Message = json.loads(line)
        return message

    def close(self) -> None:
        """Close this end. Closing twice does nothing."""
        self._arrivals.close()
        self._socket.close()
