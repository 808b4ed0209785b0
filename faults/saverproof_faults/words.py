"""Describe fault plans in plain English."""

from collections.abc import Iterable

from saverproof_faults.kinds import INTERRUPTIONS, Event, Fault, Moment

_FAULTS = {
    Fault.RAISE: "{error} raised by the driver",
    Fault.TRIGGER_ABORT: "a trigger aborts the statement with a constraint error",
    Fault.COMMIT_REFUSED: "the engine refuses the commit and rolls back",
    Fault.INTERRUPT: "the engine is interrupted",
    Fault.LOCKED: "another connection holds the write lock",
    Fault.BUSY_COMMIT: "another connection is reading",
    Fault.DISK_FULL: "the database cannot grow (disk full)",
    Fault.READ_ONLY: "the database is read-only",
    Fault.DENIED: "the engine denies to prepare what comes",
    Fault.IO_ERROR: "the file system reports an I/O error",
    Fault.IO_FULL: "the file system reports a full disk",
    Fault.IO_SHORT: "the file system takes half of the bytes",
    Fault.CONNECTION_RESET: "the connection is reset",
    Fault.ANSWER_LOST: "the server has done it, and the connection is reset before its answer",
    Fault.ANSWER_CUT: "the server has done it, and the connection ends in the middle of its answer",
    Fault.SILENCE: "the server does not answer any more",
    Fault.SERVER_REFUSED: "the server refuses to write",
    Fault.SESSION_ENDED: "the server ends the session",
    Fault.STATEMENT_CANCELLED: "the server breaks the statement off (a time limit)",
    Fault.LOCK_TIMEOUT: "the server has waited too long for a lock",
    Fault.SERVER_FULL: "the server has no room for anything",
    Fault.SESSIONS_ENDED: "the server ends all sessions",
    Fault.SERVER_KILLED: "the server is killed, and starts again,",
    Fault.FAILED_OVER: "the server dies, and another one with its data takes its address,",
    Fault.STANDSTILL: "the server stands still, and goes on later,",
    Fault.CANCEL: "the awaiting task is cancelled",
    Fault.KILL: "the process is killed",
}

_EVENTS = {
    Event.STATEMENT: "statement of the operation",
    Event.BEGIN: "begin of the operation",
    Event.COMMIT: "commit of the operation",
    Event.ROLLBACK: "rollback of the operation",
    Event.ENGINE_STATEMENT: "statement that the engine runs",
    Event.TRANSACTION: "transaction that reaches its commit",
    Event.AWAIT: "await that suspends",
    Event.IO: "I/O call",
    Event.OPEN: "file opening",
    Event.WRITE: "file write",
    Event.SYNC: "file sync",
    Event.TRUNCATE: "file truncation",
    Event.DELETE: "file deletion",
    Event.SYSTEM_CALL: "system call on the store's files",
    Event.SEND: "message to the server",
    Event.SERVER_WRITE: "write of the server",
}


def fault(kind: Fault, error: str, event: Event, moment: Moment, row: int | None) -> str:
    """Describe what goes wrong, as the start of a sentence."""
    if kind is Fault.RAISE and error in INTERRUPTIONS:
        return f"the caller is interrupted by {error}"
    what = _FAULTS[kind].format(error=error)
    if kind is not Fault.RAISE or moment is Moment.BEFORE or row is not None:
        return what
    if event is Event.ROLLBACK:
        return f"there is no transaction any more: {what}"
    return f"the answer is lost: {what}"


def place(event: Event, index: int, moment: Moment, row: int | None) -> str:
    """Describe where it goes wrong, as the end of a sentence."""
    if event is Event.OPERATION:
        return "throughout the operation"
    if event is Event.START:
        return "before the operation"
    which = f"the {ordinal(index)} {_EVENTS[event]}"
    if row is not None:
        # An engine-side fault strikes at its row; a client-side one strikes once the row is done.
        side = "at" if event is Event.ENGINE_STATEMENT else "after"
        return f"{side} row {row} of {which}"
    if event is Event.SEND and moment is Moment.AFTER:
        return f"once it has answered {which}"
    if event in (Event.SYSTEM_CALL, Event.SEND, Event.SERVER_WRITE):
        return f"at {which}"
    return f"{moment.value} {which}"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, 11th, 21st and so on."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def choice(values: Iterable[str]) -> str:
    """Return the allowed values as a phrase: 'a', or: one of 'a', 'b'."""
    listed = sorted(repr(str(value)) for value in values)
    return listed[0] if len(listed) == 1 else f"one of {', '.join(listed)}"
