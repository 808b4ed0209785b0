"""The SQLite library that the standard `sqlite3` module itself uses, reached by ctypes."""

import ctypes
import functools
import sqlite3
import sys
from contextlib import closing, suppress
from types import ModuleType

from saverproof_faults.io.structures import NEWEST_KNOWN, Vfs

NEEDED = (
    "sqlite3_libversion",
    "sqlite3_vfs_find",
    "sqlite3_vfs_register",
    "sqlite3_vfs_unregister",
)


class LibraryUnavailable(RuntimeError):  # noqa: N818 - it is a state of this Python, not a mistake
    """The running Python's SQLite cannot be reached; the message says why."""


@functools.cache
def sqlite_library() -> ctypes.CDLL:
    """The library with the signatures of the functions that the shim calls.

    Raises LibraryUnavailable where its symbols are hidden, or where those that can be seen belong
    to another copy of SQLite.
    """
    library = _loaded_with_symbols()
    library.sqlite3_libversion.restype = ctypes.c_char_p
    library.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)
    library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
    for name in ("sqlite3_vfs_register", "sqlite3_vfs_unregister"):
        getattr(library, name).restype = ctypes.c_int
    library.sqlite3_vfs_register.argtypes = [ctypes.POINTER(Vfs), ctypes.c_int]
    library.sqlite3_vfs_unregister.argtypes = [ctypes.POINTER(Vfs)]
    found = library.sqlite3_libversion().decode()
    if found != sqlite3.sqlite_version:
        raise LibraryUnavailable(
            f"the SQLite symbols in sight are of {found}, Python's sqlite3 uses "
            f"{sqlite3.sqlite_version}"
        )
    _check_default_vfs(library)
    return library


@functools.cache
def available() -> str | None:
    """Why I/O cannot be watched in this Python, or None if it can."""
    try:
        _check_same_copy(sqlite_library())
    except LibraryUnavailable as reason:
        return str(reason)
    return None


def _loaded_with_symbols() -> ctypes.CDLL:
    # A lookup in the extension module also searches the libraries that it was linked with; a
    # statically built Python has no such file, and shows the symbols itself or not at all.
    tried: list[str | None] = [None]
    extension: ModuleType | None = sys.modules.get("_sqlite3")
    path = getattr(extension, "__file__", None)
    if path is not None:
        tried.insert(0, path)
    for candidate in tried:
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(candidate)
            for name in NEEDED:
                getattr(library, name)
            return library
    raise LibraryUnavailable("the symbols of Python's SQLite library are not exported")


def _check_default_vfs(library: ctypes.CDLL) -> None:
    default = library.sqlite3_vfs_find(None)
    if not default:
        raise LibraryUnavailable("SQLite has no default VFS")
    version = default.contents.iVersion
    if version != NEWEST_KNOWN:
        raise LibraryUnavailable(f"SQLite's default VFS has version {version}, not {NEWEST_KNOWN}")


def _check_same_copy(library: ctypes.CDLL) -> None:
    # Two copies of one version look alike from outside; only one of them knows our name.
    probe = Vfs.from_buffer_copy(library.sqlite3_vfs_find(None).contents)
    probe.zName = b"saverproof-probe"
    if library.sqlite3_vfs_register(ctypes.byref(probe), 0) != 0:
        raise LibraryUnavailable("SQLite refuses to register a VFS")
    try:
        with closing(sqlite3.connect("file::memory:?vfs=saverproof-probe", uri=True)):
            pass
    except sqlite3.OperationalError as problem:
        raise LibraryUnavailable(
            f"the SQLite symbols in sight are not those Python's sqlite3 uses ({problem})"
        ) from problem
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(probe))
