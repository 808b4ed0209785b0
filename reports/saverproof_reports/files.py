"""Files that only their owner may read, and that are either whole or not there."""

import contextlib
import os
import tempfile
from pathlib import Path


def private_folder(folder: Path) -> Path:
    """Make ``folder`` and its missing parents, readable by the owner alone (0700).

    An existing folder keeps its mode: it may be the user's own.
    """
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    for part in reversed(missing):
        part.mkdir(mode=0o700, exist_ok=True)
    return folder


def write_private(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically, mode 0600: readers see the old file or the new one.

    Lone surrogates are written as backslash escapes, because UTF-8 cannot hold them.
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
    """Return the text of ``path``.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    return path.read_bytes().decode("utf-8")
