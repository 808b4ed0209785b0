"""The VFS that stands between SQLite and its files.

It is a copy of the default VFS with other ``xOpen`` and ``xDelete``. The files that it opens point
at copies of their method tables, with other ``xWrite``, ``xSync``, ``xTruncate`` and ``xClose``.
There is one in a process. It is never freed, because connections keep pointers into it as long as
they live. A call on a file that nobody watches costs no more than the way through Python.
"""

import ctypes
import os
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, cast

from saverproof_faults.collecting import HELD_OFF, hold_off
from saverproof_faults.io import codes
from saverproof_faults.io.calls import IoCall, IoKind
from saverproof_faults.io.library import sqlite_library
from saverproof_faults.io.structures import (
    CloseFunction,
    DeleteFunction,
    File,
    IoMethods,
    OpenFunction,
    SyncFunction,
    TruncateFunction,
    Vfs,
    WriteFunction,
)


class IoListener(Protocol):
    """A receiver of the calls on files below one folder."""

    @property
    def root(self) -> str:
        """The folder as an absolute path, with a separator at its end."""

    @property
    def keeps_contents(self) -> bool:
        """True if the bytes of each write are wanted."""

    def perform(self, call: IoCall, really: Callable[[], int]) -> int:
        """Let the call happen, or not, and return the engine's code."""

    def report(self, problem: BaseException) -> None:
        """Take an exception that cannot be raised through SQLite's own frames."""


@dataclass(slots=True)
class _OpenFile:
    path: str
    folder_sync_due: bool


class _Guard:
    """The block that follows ``hold_off`` in a callback. It reports what the block raises.

    Without it, ctypes would print the exception and go on with an undefined result.
    """

    def __init__(self, shim: "Shim") -> None:
        self._shim = shim

    def __enter__(self) -> None:
        """Do nothing: ``hold_off`` was called before."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if problem is not None:
            self._shim.report(problem)
        HELD_OFF.__exit__(None, None, None)
        return True


class Shim:
    """The one VFS that is interposed in a process. Get it by ``shim()``."""

    def __init__(self) -> None:
        self._library = sqlite_library()
        self._base: Any = self._library.sqlite3_vfs_find(None).contents
        self._lock = threading.Lock()
        self._listeners: tuple[IoListener, ...] = ()
        self._files: dict[int, _OpenFile] = {}
        self._tables: dict[int, Any] = {}
        self._vfs = Vfs.from_buffer_copy(self._base)
        self._vfs.zName = b"saverproof"
        self._guarded = _Guard(self)
        self._vfs.xOpen = OpenFunction(self._open)
        self._vfs.xDelete = DeleteFunction(self._delete)

    def add(self, listener: IoListener) -> None:
        """Report calls to ``listener``. While there is a listener, this is SQLite's default VFS."""
        with self._lock:
            if not self._listeners:
                self._library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)
            self._listeners = (listener, *self._listeners)

    def remove(self, listener: IoListener) -> None:
        """Stop reporting to ``listener``. Files that were opened meanwhile go on working."""
        with self._lock:
            self._listeners = tuple(other for other in self._listeners if other is not listener)
            if not self._listeners:
                self._library.sqlite3_vfs_unregister(ctypes.byref(self._vfs))

    def report(self, problem: BaseException) -> None:
        """Pass an exception that a callback raised to every listener."""
        listeners = self._listeners
        for listener in listeners:
            listener.report(problem)
        if not listeners:
            traceback.print_exception(problem)

    def _listener_for(self, path: str) -> IoListener | None:
        return next((one for one in self._listeners if path.startswith(one.root)), None)

    def _heard(self, path: str, kind: IoKind, really: Callable[[], int], **facts: Any) -> int:
        listener = self._listener_for(path)
        if listener is None:
            return really()
        return listener.perform(IoCall(kind, path[len(listener.root) :], **facts), really)

    def _open(self, vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        hold_off()
        with self._guarded:
            return self._opened(vfs, name, file, flags, out)
        return codes.IOERR

    def _opened(self, vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        def really() -> int:
            return cast(int, self._base.xOpen(vfs, name, file, flags, out))

        if name is None:  # a temporary file of SQLite's own, gone with the process
            return really()
        path = os.fsdecode(ctypes.string_at(name))
        creates = bool(flags & codes.OPEN_CREATE) and not os.path.exists(path)
        head = ctypes.cast(file, ctypes.POINTER(File)).contents
        # SQLite closes a file whose open failed unless this pointer is null.
        head.pMethods = ctypes.POINTER(IoMethods)()
        result = self._heard(path, IoKind.OPEN, really, creates=creates)
        if result == codes.OK and head.pMethods:
            due = bool(flags & codes.OPEN_CREATE) and bool(flags & codes.OPEN_JOURNALS)
            self._files[file] = _OpenFile(path, due)
            head.pMethods = ctypes.pointer(self._table(head.pMethods.contents))
        return result

    def _delete(self, vfs: int, name: int, sync_folder: int) -> int:
        hold_off()
        with self._guarded:
            return self._deleted(vfs, name, sync_folder)
        return codes.IOERR

    def _deleted(self, vfs: int, name: int, sync_folder: int) -> int:
        def really() -> int:
            return cast(int, self._base.xDelete(vfs, name, sync_folder))

        path = os.fsdecode(ctypes.string_at(name))
        syncs_folder = bool(sync_folder & codes.SYNC_DIRECTORY)
        return self._heard(path, IoKind.DELETE, really, syncs_folder=syncs_folder)

    def _wrote(
        self, really: Callable[..., int], file: int, data: int, length: int, offset: int
    ) -> int:
        path = self._files[file].path
        listener = self._listener_for(path)
        if listener is None:
            return really(file, data, length, offset)
        contents = ctypes.string_at(data, length) if listener.keeps_contents else b""
        name = path[len(listener.root) :]
        call = IoCall(IoKind.WRITE, name, offset=offset, length=length, contents=contents)
        return listener.perform(call, lambda: really(file, data, length, offset))

    def _truncated(self, really: Callable[..., int], file: int, size: int) -> int:
        path = self._files[file].path
        return self._heard(path, IoKind.TRUNCATE, lambda: really(file, size), offset=size)

    def _synced(self, really: Callable[..., int], file: int, flags: int) -> int:
        opened = self._files[file]
        result = self._heard(
            opened.path,
            IoKind.SYNC,
            lambda: really(file, flags),
            syncs_folder=opened.folder_sync_due,
        )
        if result == codes.OK:
            opened.folder_sync_due = False
        return result

    def _table(self, real: Any) -> Any:
        """Return the replacement for one of SQLite's method tables. Each table is replaced once."""
        address = ctypes.addressof(real)
        with self._lock:
            if address not in self._tables:
                self._tables[address] = self._interposed(real)
            return self._tables[address]

    def _interposed(self, real: Any) -> Any:
        real_write, real_truncate = real.xWrite, real.xTruncate
        real_sync, real_close = real.xSync, real.xClose
        guarded = self._guarded

        def write(file: int, data: int, length: int, offset: int) -> int:
            hold_off()
            with guarded:
                return self._wrote(real_write, file, data, length, offset)
            return codes.IOERR

        def truncate(file: int, size: int) -> int:
            hold_off()
            with guarded:
                return self._truncated(real_truncate, file, size)
            return codes.IOERR

        def sync(file: int, flags: int) -> int:
            hold_off()
            with guarded:
                return self._synced(real_sync, file, flags)
            return codes.IOERR

        def close(file: int) -> int:
            hold_off()
            with guarded:
                self._files.pop(file, None)
                return cast(int, real_close(file))
            return codes.IOERR

        table = IoMethods.from_buffer_copy(real)
        table.xWrite = WriteFunction(write)
        table.xTruncate = TruncateFunction(truncate)
        table.xSync = SyncFunction(sync)
        table.xClose = CloseFunction(close)
        return table


_shim: Shim | None = None
_shim_lock = threading.Lock()


def shim() -> Shim:
    """Return the process's shim, and make it at the first call.

    Raises:
        Unavailable: SQLite's library cannot be reached.
    """
    global _shim
    with _shim_lock:
        if _shim is None:
            _shim = Shim()
        return _shim
