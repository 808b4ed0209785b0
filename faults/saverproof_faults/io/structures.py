"""SQLite's ``sqlite3_vfs``, ``sqlite3_io_methods`` and ``sqlite3_file`` as ctypes structures.

Only the functions that the shim replaces have a signature; the others are bare pointers. The order
of fields is SQLite's (https://sqlite.org/c3ref/vfs.html, .../io_methods.html).
"""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p

OpenFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
DeleteFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
CloseFunction = ctypes.CFUNCTYPE(c_int, c_void_p)
WriteFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
TruncateFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64)
SyncFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_int)

NEWEST_KNOWN = 3
"""The newest ``iVersion`` of the two tables that these structures describe in full."""


class Vfs(Structure):
    """``sqlite3_vfs``: the functions by which SQLite opens and deletes files."""

    _fields_ = (
        ("iVersion", c_int),
        ("szOsFile", c_int),
        ("mxPathname", c_int),
        ("pNext", c_void_p),
        ("zName", c_char_p),
        ("pAppData", c_void_p),
        ("xOpen", OpenFunction),
        ("xDelete", DeleteFunction),
        ("xAccess", c_void_p),
        ("xFullPathname", c_void_p),
        ("xDlOpen", c_void_p),
        ("xDlError", c_void_p),
        ("xDlSym", c_void_p),
        ("xDlClose", c_void_p),
        ("xRandomness", c_void_p),
        ("xSleep", c_void_p),
        ("xCurrentTime", c_void_p),
        ("xGetLastError", c_void_p),
        ("xCurrentTimeInt64", c_void_p),
        ("xSetSystemCall", c_void_p),
        ("xGetSystemCall", c_void_p),
        ("xNextSystemCall", c_void_p),
    )


class IoMethods(Structure):
    """``sqlite3_io_methods``: the functions of an open file."""

    _fields_ = (
        ("iVersion", c_int),
        ("xClose", CloseFunction),
        ("xRead", c_void_p),
        ("xWrite", WriteFunction),
        ("xTruncate", TruncateFunction),
        ("xSync", SyncFunction),
        ("xFileSize", c_void_p),
        ("xLock", c_void_p),
        ("xUnlock", c_void_p),
        ("xCheckReservedLock", c_void_p),
        ("xFileControl", c_void_p),
        ("xSectorSize", c_void_p),
        ("xDeviceCharacteristics", c_void_p),
        ("xShmMap", c_void_p),
        ("xShmLock", c_void_p),
        ("xShmBarrier", c_void_p),
        ("xShmUnmap", c_void_p),
        ("xFetch", c_void_p),
        ("xUnfetch", c_void_p),
    )


class File(Structure):
    """The public head of ``sqlite3_file``. A null ``pMethods`` says that it is not open."""

    _fields_ = (("pMethods", POINTER(IoMethods)),)
