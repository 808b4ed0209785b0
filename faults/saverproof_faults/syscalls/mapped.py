"""Find out what a program has written to files through shared mappings since its last call.

Such writes are no system calls, but the kernel's cache shows them at once. When a call is held, the
disk may have whatever the cache shows then. If a page is written twice between two calls, only its
second state is known; the order of pages is not known. Therefore each page counts as a write of its
own, which may reach the disk or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from saverproof_faults.io import IoCall, IoKind
from saverproof_faults.syscalls.calls import PAGE

LONGEST = 4 << 20
"""Largest mapped file that is followed, in bytes: all of it is read at each call."""


@dataclass(slots=True)
class MappedFiles:
    """The mapped files below ``root``, by relative path, with the bytes that they last had."""

    root: str
    known: dict[str, bytes] = field(default_factory=dict)

    def follow(self, file: str) -> bool:
        """Note a file's bytes before it is mapped; return False if it is too long to follow."""
        try:
            self.known.setdefault(file, self._contents(file))
        except OSError:
            return False
        return True

    def changes(self) -> Iterator[IoCall]:
        """Yield the pages that have changed since the last time, as writes."""
        for file, before in self.known.items():
            try:
                now = self._contents(file)
            except OSError:
                continue
            self.known[file] = now
            for start in range(0, len(now), PAGE):
                page = now[start : start + PAGE]
                if page != before[start : start + PAGE].ljust(len(page), b"\0"):
                    yield IoCall(IoKind.WRITE, file, start, len(page), page)

    def _contents(self, file: str) -> bytes:
        path = Path(self.root, file)
        if path.stat().st_size > LONGEST:
            raise OSError(f"{file} is longer than {LONGEST} bytes")
        return path.read_bytes()
