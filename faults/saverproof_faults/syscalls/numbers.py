"""The system calls that are trapped: their numbers, and the places of their arguments.

Numbers are part of the kernel's binary interface and never change.
"""

import os
import platform
from dataclasses import dataclass
from enum import StrEnum


class CallKind(StrEnum):
    """The kinds of calls, by what they do to a file or a connection."""

    OPEN = "open"
    """Open a file for writing, or create it."""
    MAKE_FILE = "make file"
    """Create a file without opening it."""
    READ = "read"
    WRITE = "write"
    SYNC = "sync"
    SYNC_ALL = "sync all"
    """Sync everything on all disks, or on the disk of a file."""
    WRITE_OUT = "write out"
    """Hand bytes to the drive without waiting for it or for the file's size: this is no sync."""
    TRUNCATE = "truncate"
    ALLOCATE = "allocate"
    RENAME = "rename"
    DELETE = "delete"
    FOLDER = "make folder"
    LINK = "link"
    MAP = "map"
    """Map a file shared and writable: writes through the mapping are not seen."""
    RING = "io_uring"
    """Set up io_uring, a queue of calls that the kernel carries out unseen."""
    CONNECT = "connect"
    SEND = "send"
    """Send bytes to a server, by whichever call."""
    RECEIVE = "receive"


@dataclass(frozen=True, slots=True)
class Trapped:
    """One system call. ``x86_64`` and ``aarch64`` are its numbers, None on a processor without it.

    Fields are positions of arguments:

        fd, source      the descriptor; the descriptor that bytes are copied from
        folder, path    the folder's descriptor and the path that is relative to it
        target          a second path; its folder stands before it if ``folder`` is given
        data, size      the address of the bytes and their number (``vector``: of pieces)
        offset          the position in the file
        address         the address in a mapping of the file
        flags           those of a write or an opening; at an address if there is ``data``;
                        an opening without flags makes or empties the file
        from_, to       addresses of positions to copy from and to; zero for the file's own
        message         the address of a message with pieces

    ``only`` gives for an argument the bits of which one must be set, or the call is not trapped.
    """

    kind: CallKind
    x86_64: int | None
    aarch64: int | None
    fd: int | None = None
    folder: int | None = None
    path: int | None = None
    target: int | None = None
    data: int | None = None
    size: int | None = None
    offset: int | None = None
    address: int | None = None
    flags: int | None = None
    message: int | None = None
    source: int | None = None
    from_: int | None = None
    to: int | None = None
    vector: bool = False
    only: tuple[tuple[int, int], ...] = ()


_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_PROT_WRITE, _MAP_SHARED, _MS_SYNC = 2, 1, 4

SYSTEM_CALLS = {
    "open": Trapped(CallKind.OPEN, 2, None, path=0, flags=1, only=((1, _WRITING),)),
    "creat": Trapped(CallKind.OPEN, 85, None, path=0),
    "openat": Trapped(CallKind.OPEN, 257, 56, folder=0, path=1, flags=2, only=((2, _WRITING),)),
    "openat2": Trapped(CallKind.OPEN, 437, 437, folder=0, path=1, flags=2, data=2),
    "mknod": Trapped(CallKind.MAKE_FILE, 133, None, path=0),
    "mknodat": Trapped(CallKind.MAKE_FILE, 259, 33, folder=0, path=1),
    "read": Trapped(CallKind.READ, 0, 63, fd=0, data=1, size=2),
    "pread64": Trapped(CallKind.READ, 17, 67, fd=0, size=2, offset=3),
    "readv": Trapped(CallKind.READ, 19, 65, fd=0, data=1, size=2, vector=True),
    "preadv": Trapped(CallKind.READ, 295, 69, fd=0, offset=3),
    "preadv2": Trapped(CallKind.READ, 327, 286, fd=0, offset=3),
    "write": Trapped(CallKind.WRITE, 1, 64, fd=0, data=1, size=2),
    "pwrite64": Trapped(CallKind.WRITE, 18, 68, fd=0, data=1, size=2, offset=3),
    "writev": Trapped(CallKind.WRITE, 20, 66, fd=0, data=1, size=2, vector=True),
    "pwritev": Trapped(CallKind.WRITE, 296, 70, fd=0, data=1, size=2, offset=3, vector=True),
    "pwritev2": Trapped(
        CallKind.WRITE, 328, 287, fd=0, data=1, size=2, offset=3, flags=5, vector=True
    ),
    "sendfile": Trapped(CallKind.WRITE, 40, 71, fd=0, size=3, source=1, from_=2),
    "copy_file_range": Trapped(CallKind.WRITE, 326, 285, fd=2, size=4, source=0, from_=1, to=3),
    "splice": Trapped(CallKind.WRITE, 275, 76, fd=2, size=4, to=3),
    "fsync": Trapped(CallKind.SYNC, 74, 82, fd=0),
    "fdatasync": Trapped(CallKind.SYNC, 75, 83, fd=0),
    "sync_file_range": Trapped(CallKind.WRITE_OUT, 277, 84, fd=0),
    "syncfs": Trapped(CallKind.SYNC_ALL, 306, 267, fd=0),
    "sync": Trapped(CallKind.SYNC_ALL, 162, 81),
    "msync": Trapped(CallKind.SYNC, 26, 227, address=0, only=((2, _MS_SYNC),)),
    "truncate": Trapped(CallKind.TRUNCATE, 76, 45, path=0, size=1),
    "ftruncate": Trapped(CallKind.TRUNCATE, 77, 46, fd=0, size=1),
    "fallocate": Trapped(CallKind.ALLOCATE, 285, 47, fd=0, size=3, offset=2, flags=1),
    "rename": Trapped(CallKind.RENAME, 82, None, path=0, target=1),
    "renameat": Trapped(CallKind.RENAME, 264, 38, folder=0, path=1, target=3),
    "renameat2": Trapped(CallKind.RENAME, 316, 276, folder=0, path=1, target=3),
    "unlink": Trapped(CallKind.DELETE, 87, None, path=0),
    "rmdir": Trapped(CallKind.DELETE, 84, None, path=0),
    "unlinkat": Trapped(CallKind.DELETE, 263, 35, folder=0, path=1),
    "mkdir": Trapped(CallKind.FOLDER, 83, None, path=0),
    "mkdirat": Trapped(CallKind.FOLDER, 258, 34, folder=0, path=1),
    "link": Trapped(CallKind.LINK, 86, None, path=0, target=1),
    "linkat": Trapped(CallKind.LINK, 265, 37, folder=0, path=1, target=3),
    # The text in a symbolic link may be anything: only the link's own name is a path.
    "symlink": Trapped(CallKind.LINK, 88, None, path=1),
    "symlinkat": Trapped(CallKind.LINK, 266, 36, folder=1, path=2),
    "mmap": Trapped(CallKind.MAP, 9, 222, fd=4, size=1, only=((2, _PROT_WRITE), (3, _MAP_SHARED))),
    "io_uring_setup": Trapped(CallKind.RING, 425, 425),
    "io_setup": Trapped(CallKind.RING, 206, 0),
    "connect": Trapped(CallKind.CONNECT, 42, 203, fd=0, data=1, size=2),
    "sendto": Trapped(CallKind.SEND, 44, 206, fd=0, data=1, size=2),
    "sendmsg": Trapped(CallKind.SEND, 46, 211, fd=0, message=1),
    "recvfrom": Trapped(CallKind.RECEIVE, 45, 207, fd=0, data=1, size=2, flags=3),
    "recvmsg": Trapped(CallKind.RECEIVE, 47, 212, fd=0, message=1, flags=2),
}


@dataclass(frozen=True, slots=True)
class Processor:
    """The kernel's number for a kind of processor (``audit``), and of seccomp(2) there."""

    name: str
    audit: int
    seccomp: int

    def number(self, call: Trapped) -> int | None:
        """Return the call's number on this processor."""
        return call.x86_64 if self.name == "x86_64" else call.aarch64


PROCESSORS = {
    "x86_64": Processor("x86_64", 0xC000003E, 317),
    "aarch64": Processor("aarch64", 0xC00000B7, 277),
}


def processor() -> Processor | None:
    """Return this machine's processor, if its numbers are known and the interpreter has 64 bits."""
    return PROCESSORS.get(platform.machine()) if os.sysconf("SC_LONG_BIT") == 64 else None


def by_number(known: Processor) -> dict[int, tuple[str, Trapped]]:
    """Return the trapped calls that this processor has, by number, with their names."""
    found = {known.number(call): (name, call) for name, call in SYSTEM_CALLS.items()}
    return {number: named for number, named in found.items() if number is not None}
