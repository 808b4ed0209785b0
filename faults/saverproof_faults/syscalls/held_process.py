"""Look into a process whose call is held: its paths, its memory, its open files."""

import ctypes
import functools
import os
import struct
import sys

HERE = -100
"""The kernel's AT_FDCWD: a path is relative to the working folder."""
_PIDFD_GETFD = 438
"""The number of the system call pidfd_getfd, on every processor."""
_PAGE, _LONGEST_PATH = 4096, 4096
_PIECE = struct.Struct("<QQ")


def path_of_descriptor(thread: int, descriptor: int) -> str:
    """Return the target of a descriptor, as /proc has it; "" if nothing is known of it."""
    try:
        return os.readlink(f"/proc/{thread}/fd/{descriptor}")
    except OSError:
        return ""


def path_of_mapping(thread: int, address: int) -> str:
    """Return the path of the file that is mapped at an address; "" if none is."""
    with open(f"/proc/{thread}/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            start, _, rest = line.partition("-")
            end = rest.partition(" ")[0]
            if int(start, 16) <= address < int(end, 16):
                return line.rstrip("\n").split(None, 5)[5] if line.count("/") else ""
    return ""


def path_at(thread: int, address: int, folder: int = HERE) -> str:
    """Return the absolute path that stands in a thread's memory; "" if it cannot be read."""
    text = _text_at(thread, address)
    if not text:
        return ""
    try:
        at = f"/proc/{thread}/" + ("cwd" if folder == HERE else f"fd/{folder}")
        path = text if text.startswith("/") else os.path.join(os.readlink(at), text)
    except OSError:
        return ""
    return os.path.normpath(path)


def resolved(path: str) -> str:
    """Resolve the symbolic links in a path except in its last part.

    A rename or deletion means the link itself.
    """
    above, name = os.path.split(path)
    return os.path.join(os.path.realpath(above), name)


def memory(thread: int, address: int, size: int) -> bytes:
    """Return ``size`` bytes of a thread's memory, or as many as can be read."""
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as file:
        pieces, done = [], 0
        while done < size:
            piece = os.pread(file.fileno(), size - done, address + done)
            if not piece:
                break
            pieces.append(piece)
            done += len(piece)
        return b"".join(pieces)


def overwrite(thread: int, address: int, data: bytes) -> None:
    """Write bytes into a thread's memory.

    Raises:
        OSError: that is not allowed.
    """
    with open(f"/proc/{thread}/mem", "r+b", buffering=0) as file:
        os.pwrite(file.fileno(), data, address)


def pieces_at(thread: int, address: int, count: int) -> list[tuple[int, int]]:
    """Return the address and size of each piece of a vectored call."""
    return list(_PIECE.iter_unpack(memory(thread, address, count * _PIECE.size)))


def position(thread: int, descriptor: int) -> int:
    """Return where the next write to a descriptor begins: at the end of the file, if it appends."""
    found = _state_of_descriptor(thread, descriptor)
    if int(found["flags"], 8) & os.O_APPEND:
        return size_of(thread, descriptor)
    return int(found["pos"])


def size_of(thread: int, descriptor: int) -> int:
    """Return the size of a descriptor's file."""
    return os.stat(f"/proc/{thread}/fd/{descriptor}").st_size


def number_at(thread: int, address: int) -> int | None:
    """Return the position that stands at an address; None if the address is zero."""
    return int.from_bytes(memory(thread, address, 8), sys.byteorder) if address else None


def bytes_of(thread: int, descriptor: int, start: int | None, size: int) -> bytes:
    """Return up to ``size`` bytes of a descriptor's file, from ``start`` or from its position."""
    if start is None:
        start = int(_state_of_descriptor(thread, descriptor)["pos"])
    with open(f"/proc/{thread}/fd/{descriptor}", "rb") as file:
        file.seek(start)
        return file.read(size)


def writes_through(thread: int, descriptor: int) -> bool:
    """Return whether each write to a descriptor reaches the disk before it returns."""
    return bool(int(_state_of_descriptor(thread, descriptor)["flags"], 8) & os.O_DSYNC)


def _state_of_descriptor(thread: int, descriptor: int) -> dict[str, str]:
    found = {}
    with open(f"/proc/{thread}/fdinfo/{descriptor}", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            found[name] = value.strip()
    return found


def same_open_file(thread: int, descriptor: int) -> int:
    """Return a descriptor of this process for an open file of the other.

    Both processes share its position.

    Raises:
        OSError: the kernel (before Linux 5.6) or its rules do not allow it.
    """
    process = os.pidfd_open(_leader(thread))
    try:
        found: int = _c_library().syscall(
            ctypes.c_long(_PIDFD_GETFD), ctypes.c_int(process), ctypes.c_int(descriptor), 0
        )
    finally:
        os.close(process)
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def _text_at(thread: int, address: int) -> str:
    text = b""
    try:
        with open(f"/proc/{thread}/mem", "rb", buffering=0) as file:
            while b"\0" not in text and len(text) <= _LONGEST_PATH:
                at = address + len(text)
                piece = os.pread(file.fileno(), _PAGE - at % _PAGE, at)
                if not piece:
                    break
                text += piece
    except (OSError, OverflowError):
        return ""
    return os.fsdecode(text.partition(b"\0")[0])


def _leader(thread: int) -> int:
    """Return the id of the process that a thread belongs to."""
    with open(f"/proc/{thread}/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Tgid:"))


@functools.cache
def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
