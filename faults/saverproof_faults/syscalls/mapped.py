"""Files that a program writes through a shared mapping: what became of them since the last call.

Such writes are no system calls, but the kernel's cache shows them at once. Whatever stands there
when a call is held is what the disk may have as of then. Of a page that is written twice between
two calls only the second state is known, and the order of pages is not: each is taken for a write
of its own, which may reach the disk or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from saverproof_faults.io import IoCall, IoKind
from saverproof_faults.syscalls.calls import PAGE

LONGEST = 4 << 20
"""Bytes of a mapped file that is read at each call; a longer one is not followed."""


@dataclass(slots=True)
class MappedFiles:
    """Those below ``root``, by their relative paths, with their bytes as they were last."""

    root: str
    known: dict[str, bytes] = field(default_factory=dict)

    def follow(self, file: str) -> bool:
        """Note what a file holds before it is mapped; False if it cannot be followed."""
        try:
            self.known.setdefault(file, self._contents(file))
        except OSError:
            return False
        return True

    def changes(self) -> Iterator[IoCall]:
        """The pages that are no longer as they were last, as writes."""
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
