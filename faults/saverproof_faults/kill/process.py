"""Calls of the operating system that the harness needs."""

import ctypes
import fcntl
import functools
import os
import stat
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
"""The kernel's number of this option for prctl(2)."""
_MADV_COLLAPSE = 25
"""The kernel's number of this advice for madvise(2)."""
_SELF = Path("/proc/self")


def anonymous_file(name: str) -> int:
    """Return the descriptor of a new file without a name, which vanishes with its last user."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name)
    with tempfile.TemporaryFile(prefix=name) as file:
        return os.dup(file.fileno())


def signal_on_death_of_parent(number: int) -> None:
    """Ask the kernel to send ``number`` to this process when its parent ends. Linux only.

    The kernel takes the thread that made this process for the parent.
    """
    if sys.platform == "linux":
        _c_library().prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


@functools.cache
def _c_library() -> ctypes.CDLL:
    # The zygote looks the library up once, for all its children.
    return ctypes.CDLL(None)


def make_forks_cheap() -> None:
    """Ask the kernel to move what this process imported into huge pages.

    A fork copies the page tables; with huge pages it takes a quarter less time.
    """
    with suppress(OSError):
        for line in (_SELF / "maps").read_text("utf-8").splitlines():
            span, access, _, _, _, *name = line.split(maxsplit=5)
            if access == "rw-p" and name in ([], ["[heap]"]):
                start, end = (int(address, 16) for address in span.split("-"))
                _c_library().madvise(
                    ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE
                )


def threads() -> int:
    """Return the number of threads of this process, including those that Python does not know."""
    if _SELF.exists():
        return len(os.listdir(_SELF / "task"))
    return threading.active_count()


def sharable() -> set[str]:
    """Return the sockets and the files open for writing that a fork would share with this process.

    The names are those in /proc; without /proc the result is empty.
    """
    found: set[str] = set()
    if not _SELF.exists():
        return found
    for entry in os.listdir(_SELF / "fd"):
        # The descriptor of the listing itself is closed by now.
        with suppress(FileNotFoundError, OSError):
            descriptor = int(entry)
            mode = os.fstat(descriptor).st_mode
            written = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            if stat.S_ISSOCK(mode) or (stat.S_ISREG(mode) and written):
                found.add(os.readlink(_SELF / "fd" / entry))
    return found


def read_whole(descriptor: int, limit: int = 1 << 16) -> str:
    """Return the first ``limit`` bytes of a file as text."""
    data = os.pread(descriptor, limit, 0)
    return data.decode(errors="backslashreplace")
