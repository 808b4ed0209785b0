"""Count the bytes that this process reads and writes, in files and pipes, as Linux counts them."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_FILE = Path("/proc/self/io")


@dataclass(frozen=True, slots=True)
class Transferred:
    """Bytes that were requested of the system, whether or not a disk was touched for them."""

    read: int
    written: int


class ProcessIo:
    """A context manager that counts bytes. What it reads itself does not count."""

    def __enter__(self) -> Self:
        self._descriptor = os.open(_FILE, os.O_RDONLY | os.O_CLOEXEC)
        self.begin()
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self._descriptor)

    def begin(self) -> None:
        """Begin to count."""
        text = os.pread(self._descriptor, 4096, 0)
        before = _parsed(text)
        # A read is counted when it has ended.
        self._before = Transferred(before.read + len(text), before.written)

    def passed(self) -> Transferred:
        """Return the bytes that were read and written since ``begin``."""
        now = _parsed(os.pread(self._descriptor, 4096, 0))
        return Transferred(now.read - self._before.read, now.written - self._before.written)


def unavailable() -> str | None:
    """Return why bytes cannot be counted here, or None if they can."""
    try:
        _parsed(_FILE.read_bytes())
    except (OSError, ValueError, KeyError) as reason:
        return f"this system does not tell what a process reads and writes ({reason})"
    return None


def _parsed(text: bytes) -> Transferred:
    pairs = (line.split(b": ") for line in text.splitlines())
    found = {name: int(value) for name, value in pairs}
    return Transferred(found[b"rchar"], found[b"wchar"])
