"""Text that is not UTF-8: Python's sqlite3 refuses to hand it out, and all rows beside it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


def is_told_by(error: sqlite3.Error) -> bool:
    """Whether this is how sqlite3 says that a text is not UTF-8."""
    return "Could not decode to UTF-8" in str(error)


@contextmanager
def as_bytes(connection: sqlite3.Connection) -> Iterator[None]:
    """Such text comes as bytes meanwhile, so that decoding can name its row and spare the others.

    Only then: a function called for each text would slow every read.
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
