"""Files that only their owner may read, and that are either whole or not there."""

import contextlib
import os
import tempfile
from pathlib import Path


def private_folder(folder: Path) -> Path:
    """Make ``folder`` and its missing parents, readable by the owner alone (0700).

    A folder that is there already keeps its mode: it may be the user's own.
    """
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(mode=0o700, exist_ok=True)
    return folder


def write_private(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically, mode 0600: a reader sees the old file or the new one.

    Half surrogate pairs are written as backslash escapes, UTF-8 has no place for them.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def read_text(path: Path) -> str:
    """The text of ``path``. Raises OSError, and UnicodeDecodeError where it is not UTF-8."""
    return path.read_bytes().decode("utf-8")
