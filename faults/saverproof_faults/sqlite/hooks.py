"""The callbacks that SQLite gets. They live as long as the process, and do nothing without a watch.

A connection may outlive the watch that saw it open, and calls back for the last time when it
closes: a freed callback would crash then. ctypes prints and ignores what a callback raises, which
would pass for "no fault"; therefore all exceptions are passed to the watch.
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
    TRANSACTION,
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
"""The SQL function by which a trigger asks whether the row is the one to fail."""


class Receiver(Protocol):
    """The methods of a watch that the callbacks call. Integers are SQLite's handles."""

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
"""The watch that receives the callbacks, if there is one."""


def _opened(handle: int, _error: int, _routines: int) -> int:
    """Pass on that a connection opens. SQLite calls this for every connection of the process."""
    receiver = CURRENT.receiver
    if receiver is not None and not FLAGS.hidden:
        try:
            receiver.on_open(handle)
        except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
            receiver.on_problem(problem)
    return OK


def _closed(handle: int) -> None:
    """Pass on that a connection closes or has closed. Its handle is not valid any more."""
    receiver = CURRENT.receiver
    if receiver is not None:
        try:
            receiver.on_close(handle)
        except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
            receiver.on_problem(problem)


def _traced(kind: int, handle: int, statement: int, text: int) -> int:
    """Pass on that a statement starts or ends.

    For a trigger's inner program ``text`` begins with a comment.
    """
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
    """Pass on that a transaction is about to commit. A result other than 0 makes it roll back."""
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
    """Pass on that a transaction was rolled back."""
    hold_off()
    with HELD_OFF:
        receiver = CURRENT.receiver
        if receiver is not None and not FLAGS.hidden:
            try:
                receiver.on_rollback(handle)
            except BaseException as problem:  # noqa: BLE001 - surfaced by the watch
                receiver.on_problem(problem)


def _stepping(handle: int) -> int:
    """Pass on that some opcodes have run. A result other than 0 interrupts the statement."""
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
    """Pass on that another connection holds a lock. The result 0 makes SQLite give up at once."""
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
    handle: int, action: int, first: bytes, _second: bytes, _database: bytes, _inner: bytes
) -> int:
    """Pass on that a statement is compiled. The result DENY makes it fail as not authorized.

    Rollbacks are always allowed: no application forbids its own.
    """
    if action == TRANSACTION and first == b"ROLLBACK":
        return OK
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
    """Tell a trigger whether its row is to fail."""
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
    """Give a new connection the row function, and ask for a call when it closes.

    A connection that is closed with statements left over lives on without an owner; tracing reports
    its closing. If the program sets a trace callback of its own, the end of the row function
    reports it.
    """
    found.calls.sqlite3_trace_v2(handle, TRACE_CLOSE, traced, handle)
    found.calls.sqlite3_create_function_v2(
        handle, ROW_FUNCTION.encode(), 0, UTF8 | INNOCUOUS, handle, row_written, None, None, closed
    )


def attach(found: Library, handle: int, *, ends: bool) -> None:
    """Ask for a call at each statement, commit and rollback of a connection from now on."""
    events = TRACE_CLOSE | TRACE_STATEMENT | (TRACE_PROFILE if ends else 0)
    found.calls.sqlite3_trace_v2(handle, events, traced, handle)
    found.calls.sqlite3_commit_hook(handle, committing, handle)
    found.calls.sqlite3_rollback_hook(handle, rolled_back, handle)


def detach(found: Library, handle: int) -> None:
    """Ask for no more calls about a connection, except at its end."""
    found.calls.sqlite3_trace_v2(handle, TRACE_CLOSE, traced, handle)
    found.calls.sqlite3_commit_hook(handle, NO_INTEGER, None)
    found.calls.sqlite3_rollback_hook(handle, NO_VOID, None)


def _is_inner(statement: int, text: int) -> bool:
    # Comparing two bytes spares making a string for every statement.
    if _BYTE.from_address(text).value != _DASH or _BYTE.from_address(text + 1).value != _DASH:
        return False
    return bool(ctypes.string_at(text) != library().quick.sqlite3_sql(statement))
