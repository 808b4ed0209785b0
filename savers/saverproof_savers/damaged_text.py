"""Handle text that is not UTF-8. Python's sqlite3 refuses to return such text, and with it all
other rows.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


def is_told_by(error: sqlite3.Error) -> bool:
    """Return whether sqlite3 raised the error because of a text that is not UTF-8."""
    return "Could not decode to UTF-8" in str(error)


@contextmanager
def as_bytes(connection: sqlite3.Connection) -> Iterator[None]:
    """Return text that is not UTF-8 as bytes within a block.

    Then decoding can name its row and spare the others.

    Do this only when needed: a function that is called for each text slows every read.
    """
    connection.text_factory = _text_or_bytes
    try:
        yield
    finally:
        connection.text_factory = str


def _text_or_bytes(stored: bytes) -> str | bytes:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored
