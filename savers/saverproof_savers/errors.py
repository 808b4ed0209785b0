"""Errors whose text names the file and the cause."""

import os
import sqlite3

_HINTS = {
    "SQLITE_BUSY": "another connection held the lock for longer than the busy timeout",
    "SQLITE_FULL": "the disk, or the size that the database may have, is full; nothing was stored",
    "SQLITE_READONLY": "the file or its folder cannot be written",
    "SQLITE_NOTADB": "the file is no SQLite database, or its first page is damaged",
    "SQLITE_CORRUPT": "the file is damaged or was cut short; restore it from a backup",
    "SQLITE_IOERR": "the operating system refused a read or a write",
}


class SchemaError(RuntimeError):
    """The database holds tables that this version of the saver cannot use."""


class UndecodableError(ValueError):
    """A stored row cannot be decoded. The message names the file and the row."""


def explain(error: sqlite3.Error | UndecodableError, where: str) -> None:
    """Put the file and the likely cause into the text of ``error``, which stays the same object."""
    text = str(error)
    if text.startswith(f"{where}: "):
        return
    hint = _hint(getattr(error, "sqlite_errorname", None), where)
    error.args = (f"{where}: {text} ({hint})" if hint else f"{where}: {text}",)


def _hint(name: str | None, where: str) -> str | None:
    if name is None:
        return None
    if name.startswith("SQLITE_CANTOPEN"):
        return _why_not_opened(where)
    primary = "_".join(name.split("_")[:2])
    return _HINTS.get(primary)


def _why_not_opened(where: str) -> str:
    folder = os.path.dirname(os.path.abspath(where))
    if os.path.isdir(where):
        return "it is a folder, not a file"
    if not os.path.isdir(folder):
        return f"the folder {folder} does not exist"
    if os.path.exists(where) and not os.access(where, os.R_OK):
        return "no permission to read it"
    return f"check the permissions of it and of the folder {folder}"
