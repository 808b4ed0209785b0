"""Adapt the names by which SQLite's journals of one commit over several files refer to one another.

SQLite ends such a commit by deleting its super-journal. Each journal names the super-journal by its
whole path, and the super-journal names each journal. An image is in another folder than the files
that it was taken from.
"""

from __future__ import annotations

from pathlib import Path, PurePath

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_SIGN = "-mj"
"""The part of a super-journal's name that follows the database's name."""


def moved(name: str, data: bytes, root: Path) -> bytes:
    """Return a file's bytes with the paths by which its journals are found below ``root``."""
    if _SIGN in PurePath(name).name:
        below = (root / name).parent
        return b"".join(_path(below, old) + b"\0" for old in data.split(b"\0") if old)
    if not data.endswith(_MAGIC) or len(data) < len(_MAGIC) + 8:
        return data
    at = len(data) - len(_MAGIC) - 8
    length = int.from_bytes(data[at : at + 4], "big")
    if not 0 < length <= at:
        return data
    new = _path((root / name).parent, data[at - length : at])
    summed = sum(new) & 0xFFFFFFFF
    return b"".join(
        (data[: at - length], new, len(new).to_bytes(4, "big"), summed.to_bytes(4, "big"), _MAGIC)
    )


def _path(folder: Path, old: bytes) -> bytes:
    return str(folder / PurePath(old.decode()).name).encode()
