"""The SQLite library that the standard ``sqlite3`` module uses, reached by ctypes."""

import ctypes
import functools
import sqlite3
from contextlib import closing

from saverproof_faults.errors import Unavailable
from saverproof_faults.io.structures import NEWEST_KNOWN, Vfs
from saverproof_faults.sqlite.symbols import bind, check_version

NEEDED = (
    "sqlite3_libversion",
    "sqlite3_vfs_find",
    "sqlite3_vfs_register",
    "sqlite3_vfs_unregister",
)


@functools.cache
def sqlite_library() -> ctypes.CDLL:
    """Return the library, with the signatures of the functions that the shim calls.

    Raises:
        Unavailable: its symbols are hidden, or belong to another copy of SQLite.
    """
    library = bind(_bound)
    library.sqlite3_libversion.restype = ctypes.c_char_p
    library.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)
    library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    for name in ("sqlite3_vfs_register", "sqlite3_vfs_unregister"):
        getattr(library, name).restype = ctypes.c_int
    library.sqlite3_vfs_register.argtypes = [ctypes.POINTER(Vfs), ctypes.c_int]
    library.sqlite3_vfs_unregister.argtypes = [ctypes.POINTER(Vfs)]
    check_version(library.sqlite3_libversion())
    _check_default_vfs(library)
    return library


@functools.cache
def available() -> str | None:
    """Return why I/O cannot be watched in this Python, or None if it can."""
    try:
        _check_same_copy(sqlite_library())
    except Unavailable as reason:
        return str(reason)
    return None


def _bound(path: str | None) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name in NEEDED:
        getattr(library, name)
    return library


def _check_default_vfs(library: ctypes.CDLL) -> None:
    default = library.sqlite3_vfs_find(None)
    if not default:
        raise Unavailable("SQLite has no default VFS")
    version = default.contents.iVersion
    if version != NEWEST_KNOWN:
        raise Unavailable(f"SQLite's default VFS has version {version}, not {NEWEST_KNOWN}")


def _check_same_copy(library: ctypes.CDLL) -> None:
    # Two copies of one version look alike from outside. Only one of them knows a name registered
    # here.
    probe = Vfs.from_buffer_copy(library.sqlite3_vfs_find(None).contents)
    probe.zName = b"saverproof-probe"
    if library.sqlite3_vfs_register(ctypes.byref(probe), 0) != 0:
        raise Unavailable("SQLite refuses to register a VFS")
    try:
        with closing(sqlite3.connect("file::memory:?vfs=saverproof-probe", uri=True)):
            pass
    except sqlite3.OperationalError as problem:
        raise Unavailable(
            f"the SQLite symbols in sight are not those Python's sqlite3 uses ({problem})"
        ) from problem
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(probe))
