"""The functions and constants of the SQLite library that ``sqlite3`` uses, by ctypes.

There are two handles on the library. ``calls`` releases the interpreter lock during a call, as any
call that may wait for a lock must. ``quick`` keeps it, for functions that only read a field.
"""

import ctypes
import functools
import sqlite3
from contextlib import closing

from saverproof_faults.errors import Unavailable
from saverproof_faults.sqlite.symbols import bind, check_version

Pointer = ctypes.c_void_p
Integer = ctypes.c_int
Text = ctypes.c_char_p

TraceHook = ctypes.CFUNCTYPE(Integer, ctypes.c_uint, Pointer, Pointer, Pointer)
IntegerHook = ctypes.CFUNCTYPE(Integer, Pointer)
VoidHook = ctypes.CFUNCTYPE(None, Pointer)
BusyHook = ctypes.CFUNCTYPE(Integer, Pointer, Integer)
AuthorizerHook = ctypes.CFUNCTYPE(Integer, Pointer, Integer, Text, Text, Text, Text)
FunctionHook = ctypes.CFUNCTYPE(None, Pointer, Integer, Pointer)
OpenHook = ctypes.CFUNCTYPE(Integer, Pointer, Pointer, Pointer)

OK, DENY, ROW = 0, 1, 100
BUSY, READONLY, FULL = 5, 8, 13
TRACE_STATEMENT, TRACE_PROFILE, TRACE_CLOSE = 0x01, 0x02, 0x08
UTF8, INNOCUOUS = 1, 0x200000
TRANSACTION = 22
"""The authorizer's code for statements that begin or end a transaction."""
MINIMUM_VERSION = (3, 34, 0)
"""The first version with sqlite3_txn_state, of 2020."""

_CALLS: dict[str, tuple[type | None, list[type]]] = {
    "sqlite3_auto_extension": (Integer, [OpenHook]),
    "sqlite3_cancel_auto_extension": (Integer, [OpenHook]),
    "sqlite3_trace_v2": (Integer, [Pointer, ctypes.c_uint, TraceHook, Pointer]),
    "sqlite3_commit_hook": (Pointer, [Pointer, IntegerHook, Pointer]),
    "sqlite3_rollback_hook": (Pointer, [Pointer, VoidHook, Pointer]),
    "sqlite3_progress_handler": (None, [Pointer, Integer, IntegerHook, Pointer]),
    "sqlite3_busy_handler": (Integer, [Pointer, BusyHook, Pointer]),
    "sqlite3_busy_timeout": (Integer, [Pointer, Integer]),
    "sqlite3_set_authorizer": (Integer, [Pointer, AuthorizerHook, Pointer]),
    "sqlite3_create_function_v2": (
        Integer,
        [Pointer, Text, Integer, Integer, Pointer, FunctionHook, Pointer, Pointer, VoidHook],
    ),
    "sqlite3_exec": (Integer, [Pointer, Text, Pointer, Pointer, Pointer]),
    "sqlite3_prepare_v2": (
        Integer,
        [Pointer, Text, Integer, ctypes.POINTER(Pointer), Pointer],
    ),
    "sqlite3_step": (Integer, [Pointer]),
    "sqlite3_finalize": (Integer, [Pointer]),
    "sqlite3_column_text": (Text, [Pointer, Integer]),
    "sqlite3_txn_state": (Integer, [Pointer, Text]),
    "sqlite3_errmsg": (Text, [Pointer]),
    "sqlite3_db_filename": (Text, [Pointer, Text]),
}

_QUICK: dict[str, tuple[type | None, list[type]]] = {
    "sqlite3_libversion": (Text, []),
    "sqlite3_threadsafe": (Integer, []),
    "sqlite3_sql": (Text, [Pointer]),
    "sqlite3_stmt_busy": (Integer, [Pointer]),
    "sqlite3_stmt_readonly": (Integer, [Pointer]),
    "sqlite3_stmt_status": (Integer, [Pointer, Integer, Integer]),
    "sqlite3_get_autocommit": (Integer, [Pointer]),
    "sqlite3_total_changes": (Integer, [Pointer]),
    "sqlite3_errcode": (Integer, [Pointer]),
    "sqlite3_user_data": (Pointer, [Pointer]),
    "sqlite3_result_int": (None, [Pointer, Integer]),
}


class Library:
    """SQLite's functions under their C names without ``sqlite3_``, in two handles."""

    def __init__(self, path: str | None) -> None:
        self.calls = ctypes.CDLL(path)
        self.quick = ctypes.PyDLL(path)
        for handle, table in ((self.calls, _CALLS), (self.quick, _QUICK)):
            for name, (result, arguments) in table.items():
                function = getattr(handle, name)
                function.restype = result
                function.argtypes = arguments


@functools.cache
def library() -> Library:
    """Return the library of this Python's ``sqlite3``. It is looked up and tried out once.

    Raises:
        Unavailable: its symbols are hidden or belong to another copy of SQLite; or it is too old,
            or was built without locks around its connections.
    """
    found = bind(Library)
    check_version(found.quick.sqlite3_libversion())
    if sqlite3.sqlite_version_info < MINIMUM_VERSION:
        version = sqlite3.sqlite_version
        raise Unavailable(f"found SQLite {version}, expected 3.34 or newer")
    if found.quick.sqlite3_threadsafe() != 1:
        raise Unavailable("this SQLite was built without serialized connections")
    _check_same_copy(found)
    return found


@functools.cache
def unavailable() -> str | None:
    """Return why SQLite cannot be made to fail from inside in this Python, or None if it can."""
    try:
        library()
    except Unavailable as reason:
        return str(reason)
    return None


def _check_same_copy(found: Library) -> None:
    # Two copies of one version look alike from outside. Only one of them calls back when sqlite3
    # opens.
    opened: list[int] = []

    def see(handle: int, _error: int, _routines: int) -> int:
        opened.append(handle)
        return OK

    seen = OpenHook(see)
    if found.calls.sqlite3_auto_extension(seen) != OK:
        raise Unavailable("this SQLite refuses automatic extensions")
    try:
        with closing(sqlite3.connect(":memory:")):
            pass
    finally:
        found.calls.sqlite3_cancel_auto_extension(seen)
    if not opened:
        raise Unavailable("the SQLite symbols in sight are not those Python's sqlite3 uses")
