"""A connection to Redis that speaks the protocol itself.

It uses no driver, because faults are put into drivers.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

_PATIENCE_S = 10.0
"""Seconds for the server to take a connection, or to answer."""


class RefusedError(Exception):
    """Redis answered with an error."""


class RedisConnection:
    """One connection to the server at a DSN.

    Raises:
        RefusedError: the server refused the connection or the password.
        OSError: the server cannot be reached.
    """

    def __init__(self, dsn: str) -> None:
        url = urlsplit(dsn)
        host = url.hostname or "localhost"
        self._socket = socket.create_connection((host, url.port or 6379), timeout=_PATIENCE_S)
        if url.scheme in ("rediss", "valkeys"):
            context = ssl.create_default_context()
            self._socket = context.wrap_socket(self._socket, server_hostname=host)
        self._answers = self._socket.makefile("rb")
        try:
            if url.password:
                user = [unquote(url.username)] if url.username else []
                self.ask("AUTH", *user, unquote(url.password))
            self.ask("PING")
        except BaseException:
            self.close()
            raise

    def ask(self, *words: str | bytes) -> Any:
        """Return the answer to a command.

        Raises:
            RefusedError: the answer is an error.
            OSError: the connection is broken.
        """
        self._socket.sendall(_request(words))
        return self.answer()

    @property
    def version(self) -> str:
        """Return the version of the server."""
        said: str = self.ask("INFO", "server").decode()
        known = dict(line.split(":", 1) for line in said.splitlines() if ":" in line)
        return known.get("valkey_version") or known.get("redis_version", "")

    def close(self) -> None:
        """Close the connection."""
        self._answers.close()
        self._socket.close()

    def answer(self) -> Any:
        """Return the next answer; on a connection that monitors, the next command.

        Raises:
            RefusedError: the answer is an error.
            OSError: the connection is broken.
        """
        line = self._answers.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:].strip()
        if kind == b"-":
            raise RefusedError(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if int(rest) < 0 else self._answers.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return rest


def database_of(dsn: str) -> str:
    """Return the number of the database at a DSN."""
    return urlsplit(dsn).path.strip("/") or "0"


def _request(words: Sequence[str | bytes]) -> bytes:
    parts = [word.encode() if isinstance(word, str) else word for word in words]
    head = f"*{len(parts)}\r\n".encode()
    return head + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
