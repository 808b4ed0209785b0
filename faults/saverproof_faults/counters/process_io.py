"""Count the bytes that this process reads and writes in files and pipes, and the system calls for
that, as Linux counts them.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_FILE = Path("/proc/self/io")


@dataclass(frozen=True, slots=True)
class Transferred:
    """Bytes that were requested of the system, whether or not a disk was touched for them, and the
    number of system calls that requested them.
    """

    read: int
    written: int
    reads: int = 0
    writes: int = 0

    def since(self, before: Self) -> Self:
        """Return the difference from an earlier count, ``before``."""
        return type(self)(
            self.read - before.read,
            self.written - before.written,
            self.reads - before.reads,
            self.writes - before.writes,
        )


class ProcessIo:
    """A context manager that counts bytes and system calls. Its own reads of the counters do not
    count.

    The kernel counts ``read``, ``write`` and all calls like them (``pread``, ``writev``,
    ``sendfile``) in all threads, on files, pipes and sockets. It does not count ``send`` and
    ``recv``, by which nearly all clients talk to servers.
    """

    def __enter__(self) -> Self:
        self._descriptor = os.open(_FILE, os.O_RDONLY | os.O_CLOEXEC)
        self.begin()
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self._descriptor)

    def begin(self) -> None:
        """Note the counts so far; ``passed`` subtracts them."""
        text = os.pread(self._descriptor, 4096, 0)
        before = _parsed(text)
        # A read is counted when it has ended.
        self._before = Transferred(
            before.read + len(text), before.written, before.reads + 1, before.writes
        )

    def passed(self) -> Transferred:
        """Return what was read and written since ``begin``."""
        return _parsed(os.pread(self._descriptor, 4096, 0)).since(self._before)


def unavailable() -> str | None:
    """Return why nothing can be counted here, or None if it can."""
    try:
        _parsed(_FILE.read_bytes())
    except (OSError, ValueError, KeyError) as reason:
        return f"this system does not tell what a process reads and writes ({reason})"
    return None


def _parsed(text: bytes) -> Transferred:
    pairs = (line.split(b": ") for line in text.splitlines())
    found = {name: int(value) for name, value in pairs}
    return Transferred(*(found[name] for name in (b"rchar", b"wchar", b"syscr", b"syscw")))
