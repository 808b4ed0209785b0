"""The callbacks that SQLite is given. They live as long as the process; without a watch, they rest.

A connection may outlive the watch that saw it open, and its last callback comes when it closes:
freeing a callback would be a crash. What a callback raises would be printed and ignored by ctypes,
and pass for "no fault": all of it goes to the watch instead.
"""

import ctypes
from typing import Protocol

from saverproof_faults.collecting import HELD_OFF, hold_off
from saverproof_faults.reentrancy import FLAGS
from saverproof_faults.sqlite.library import (
    DENY,
    INNOCUOUS,
    OK,
    TRACE_CLOSE,
    TRACE_PROFILE,
    TRACE_STATEMENT,
    UTF8,
    AuthorizerHook,
    BusyHook,
    FunctionHook,
    IntegerHook,
    Library,
    OpenHook,
    TraceHook,
    VoidHook,
    library,
)

_BYTE = ctypes.c_ubyte
_DASH = ord("-")

NO_INTEGER = IntegerHook()
NO_VOID = VoidHook()
NO_AUTHORIZER = AuthorizerHook()

ROW_FUNCTION = "saverproof_row_written"
"""The SQL function by which a trigger asks whether this row is the one to fail."""


class Receiver(Protocol):
    """What the callbacks need of a watch. The integers are SQLite's handles."""

    def on_open(self, handle: int) -> None: ...
    def on_close(self, handle: int) -> None: ...
    def on_begin(self, handle: int, statement: int) -> None: ...
    def on_end(self, handle: int, statement: int) -> None: ...
    def on_commit(self, handle: int) -> bool: ...
    def on_rollback(self, handle: int) -> None: ...
    def on_step(self, handle: int) -> bool: ...
    def on_wait(self, handle: int) -> None: ...
    def on_prepare(self, handle: int, action: int) -> bool: ...
    def on_row(self, handle: int) -> bool: ...
    def on_problem(self, problem: BaseException) -> None: ...


class _Current:
    receiver: Receiver | None = None


CURRENT = _Current()
"""The watch that hears the callbacks, if there is one."""


def _opened(handle: int, _error: int, _routines: int) -> int:
    """Every connection of the process passes here when it opens."""
    receiver = CURRENT.receiver
    if receiver is not None and not FLAGS.hidden:
        try:
            receiver.on_open(handle)
        except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
            receiver.on_problem(problem)
    return OK


def _closed(handle: int) -> None:
    """A connection is closing, or has closed: its handle is of no use any more."""
    receiver = CURRENT.receiver
    if receiver is not None:
        try:
            receiver.on_close(handle)
        except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
            receiver.on_problem(problem)


def _traced(kind: int, handle: int, statement: int, text: int) -> int:
    """A statement starts or ends; ``text`` begins with a comment for a trigger's inner program."""
    hold_off()
    with HELD_OFF:
        if kind == TRACE_CLOSE:
            _closed(handle)
            return 0
        receiver = CURRENT.receiver
        if receiver is not None and not FLAGS.hidden:
            try:
                if kind == TRACE_PROFILE:
                    receiver.on_end(handle, statement)
                elif not _is_inner(statement, text):
                    receiver.on_begin(handle, statement)
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)
        return 0


def _committing(handle: int) -> int:
    """A transaction is about to commit; anything but zero turns it into a rollback."""
    hold_off()
    with HELD_OFF:
        receiver = CURRENT.receiver
        if receiver is not None and not FLAGS.hidden:
            try:
                return int(receiver.on_commit(handle))
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)
        return 0


def _rolled_back(handle: int) -> None:
    """A transaction was rolled back."""
    hold_off()
    with HELD_OFF:
        receiver = CURRENT.receiver
        if receiver is not None and not FLAGS.hidden:
            try:
                receiver.on_rollback(handle)
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)


def _stepping(handle: int) -> int:
    """Some opcodes have run; anything but zero interrupts."""
    hold_off()
    with HELD_OFF:
        receiver = CURRENT.receiver
        if receiver is not None and not FLAGS.hidden:
            try:
                return int(receiver.on_step(handle))
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)
        return 0


def _waiting(handle: int, _times: int) -> int:
    """A lock is not to be had; zero gives up at once."""
    hold_off()
    with HELD_OFF:
        receiver = CURRENT.receiver
        if receiver is not None and not FLAGS.hidden:
            try:
                receiver.on_wait(handle)
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)
        return 0


def _preparing(
    handle: int, action: int, _first: bytes, _second: bytes, _database: bytes, _inner: bytes
) -> int:
    """A statement is compiled; DENY fails it as not authorized."""
    hold_off()
    with HELD_OFF:
        receiver = CURRENT.receiver
        if receiver is not None and not FLAGS.hidden:
            try:
                return DENY if receiver.on_prepare(handle, action) else OK
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)
        return OK


def _row_written(context: int, _count: int, _values: int) -> None:
    """A trigger asks whether its row fails."""
    hold_off()
    with HELD_OFF:
        answer = False
        receiver = CURRENT.receiver
        quick = library().quick
        if receiver is not None and not FLAGS.hidden:
            try:
                answer = receiver.on_row(quick.sqlite3_user_data(context))
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)
        quick.sqlite3_result_int(context, int(answer))


opened = OpenHook(_opened)
closed = VoidHook(_closed)
traced = TraceHook(_traced)
committing = IntegerHook(_committing)
rolled_back = VoidHook(_rolled_back)
stepping = IntegerHook(_stepping)
waiting = BusyHook(_waiting)
preparing = AuthorizerHook(_preparing)
row_written = FunctionHook(_row_written)


def mark(found: Library, handle: int) -> None:
    """Give a new connection the row function, and have its end told.

    A connection closed with statements left over goes on as a ghost, so its closing is traced; the
    end of the row function tells of it where a program's own trace callback came between.
    """
    found.calls.sqlite3_trace_v2(handle, TRACE_CLOSE, traced, handle)
    found.calls.sqlite3_create_function_v2(
        handle, ROW_FUNCTION.encode(), 0, UTF8 | INNOCUOUS, handle, row_written, None, None, closed
    )


def attach(found: Library, handle: int, *, ends: bool) -> None:
    """Have the connection's statements, commits and rollbacks told from now on."""
    events = TRACE_CLOSE | TRACE_STATEMENT | (TRACE_PROFILE if ends else 0)
    found.calls.sqlite3_trace_v2(handle, events, traced, handle)
    found.calls.sqlite3_commit_hook(handle, committing, handle)
    found.calls.sqlite3_rollback_hook(handle, rolled_back, handle)


def detach(found: Library, handle: int) -> None:
    """Have nothing told any more but the connection's end."""
    found.calls.sqlite3_trace_v2(handle, TRACE_CLOSE, traced, handle)
    found.calls.sqlite3_commit_hook(handle, NO_INTEGER, None)
    found.calls.sqlite3_rollback_hook(handle, NO_VOID, None)


def _is_inner(statement: int, text: int) -> bool:
    # Two first bytes, without a string being made of them for every statement.
    if _BYTE.from_address(text).value != _DASH or _BYTE.from_address(text + 1).value != _DASH:
        return False
    return bool(ctypes.string_at(text) != library().quick.sqlite3_sql(statement))
