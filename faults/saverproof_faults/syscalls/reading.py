"""Make a SystemCall of a held call: find out which file of the watched folder it is about."""

import os
import stat
import sys
from dataclasses import dataclass

from saverproof_faults.syscalls import held_process
from saverproof_faults.syscalls.calls import SystemCall
from saverproof_faults.syscalls.notifications import HeldCall
from saverproof_faults.syscalls.numbers import CallKind, Trapped

_DELETED = " (deleted)"


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """The folder whose files are watched; ``path`` has no symbolic link in it."""

    path: str

    def called(self, held: HeldCall, trapped: Trapped, *, whole: bool = True) -> SystemCall | None:
        """Return the call on the folder's files, or None if the held call is about something else.

        A call that is only counted (not ``whole``) gets its kind and its file: finding out the rest
        takes as much time again.
        """
        if trapped.fd is not None:
            path = held_process.path_of_descriptor(held.thread, held.descriptor(trapped.fd))
        elif trapped.address is not None:
            path = held_process.path_of_mapping(held.thread, held.arguments[trapped.address])
        elif trapped.path is not None:
            path = self._path(held, trapped, trapped.path)
        else:
            return SystemCall(trapped.kind, ".")
        target = "" if trapped.target is None else self._path(held, trapped, trapped.target)
        if not self._holds(path) and not self._holds(target):
            return None
        if not whole:
            return SystemCall(trapped.kind, self._name(path), self._name(target) if target else "")
        return self._made(held, trapped, path, target)

    def _holds(self, path: str) -> bool:
        return path.startswith(self.path) and path[len(self.path) : len(self.path) + 1] in ("", "/")

    def _path(self, held: HeldCall, trapped: Trapped, position: int) -> str:
        folder = held_process.HERE if trapped.folder is None else held.descriptor(position - 1)
        path = held_process.path_at(held.thread, held.arguments[position], folder)
        # Resolving takes a call for each part of the path, and programs seldom use links.
        return path if self._holds(path) else held_process.resolved(path)

    def _made(self, held: HeldCall, trapped: Trapped, path: str, target: str) -> SystemCall:
        kind = trapped.kind
        flags, there = 0, True
        if kind in (CallKind.OPEN, CallKind.MAKE_FILE):
            flags = _flags(held, trapped) if kind is CallKind.OPEN else os.O_CREAT
            there = os.path.lexists(path)
        offset = 0
        if kind is CallKind.WRITE:
            offset = _offset(held, trapped)
        return SystemCall(
            kind,
            self._name(path),
            self._name(target) if target else "",
            size=_grown(held, trapped) if kind is CallKind.ALLOCATE else _size(held, trapped),
            offset=offset,
            divisible=kind is CallKind.WRITE and trapped.data is not None,
            creates=bool(flags & os.O_CREAT) and not there,
            empties=bool(flags & os.O_TRUNC) and there,
            folder=kind in (CallKind.SYNC, CallKind.DELETE, CallKind.RENAME) and _is_folder(path),
            deleted=path.endswith(_DELETED),
        )

    def _name(self, path: str) -> str:
        """Return a path relative to the folder; a path elsewhere stays as it is."""
        if not self._holds(path):
            return path
        return path[len(self.path) + 1 :].removesuffix(_DELETED) or "."


def _size(held: HeldCall, trapped: Trapped) -> int:
    if trapped.size is None:
        return 0
    given = held.arguments[trapped.size]
    if not trapped.vector:
        return given
    pieces = held_process.pieces_at(held.thread, held.arguments[trapped.data or 0], given)
    return sum(size for _, size in pieces)


def _flags(held: HeldCall, trapped: Trapped) -> int:
    """Return the flags with which a file is opened."""
    if trapped.flags is None:
        return os.O_CREAT | os.O_TRUNC
    given = held.arguments[trapped.flags]
    if trapped.data is None:
        return given
    return int.from_bytes(held_process.memory(held.thread, given, 8), sys.byteorder)


def _offset(held: HeldCall, trapped: Trapped) -> int:
    """Return where a write begins."""
    if trapped.offset is not None:
        return held.arguments[trapped.offset]
    assert trapped.fd is not None
    given = (
        None
        if trapped.to is None
        else held_process.number_at(held.thread, held.arguments[trapped.to])
    )
    return (
        held_process.position(held.thread, held.descriptor(trapped.fd)) if given is None else given
    )


def _grown(held: HeldCall, trapped: Trapped) -> int:
    """Return the size of a file after room was made in it."""
    assert trapped.fd is not None
    now = held_process.size_of(held.thread, held.descriptor(trapped.fd))
    if trapped.flags is None or held.arguments[trapped.flags]:
        return now
    return max(now, held.arguments[trapped.offset or 0] + held.arguments[trapped.size or 0])


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
