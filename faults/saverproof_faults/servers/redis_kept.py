"""Count the bytes of what a database of Redis keeps."""

from __future__ import annotations

from saverproof_faults.servers.redis_connection import RedisConnection, RefusedError
from saverproof_faults.servers.server import ServerUnavailable


def bytes_kept(connection: RedisConnection, number: str) -> int:
    """Return the bytes of all keys of the database with this number, and of their values as Redis
    writes them to a file.

    The memory that they take (MEMORY USAGE) cannot be compared: tables of keys grow and shrink in
    the background.

    Raises:
        ServerUnavailable: the server refuses; the message is one line.
    """
    try:
        connection.ask("SELECT", number)
        keys: list[bytes] = connection.ask("KEYS", "*")
        return sum(len(key) + len(connection.ask("DUMP", key) or b"") for key in keys)
    except RefusedError as refused:
        raise ServerUnavailable(f"Redis does not tell what it keeps: {refused}") from None
