"""Finds the SQLite files of a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_HEADER = b"SQLite format 3\0"


def sqlite_files(folder: Path) -> Iterator[Path]:
    """Yield the SQLite databases below a folder, recognized by their first bytes."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                if file.read(len(_HEADER)) == _HEADER:
                    yield path
