"""The vocabulary of fault plans: faults, their classes, and the events at which they strike."""

from collections.abc import Mapping
from enum import StrEnum


class Side(StrEnum):
    """The class of a fault: who fails.

    Reports keep the classes apart, because they may leave different things behind.
    """

    CLIENT = "client-side"
    """The driver raises. The database has not failed, and does not know."""
    ENGINE = "engine-side"
    """The database itself fails, and rolls back what it rolls back in such a case."""
    NETWORK = "network"
    """A connection breaks, or nothing passes through it any more. The server goes on."""
    CANCELLATION = "cancellation"
    """The awaiting task is cancelled. Work that was handed to a thread goes on."""
    PROCESS = "process"
    """The process is killed."""


class Fault(StrEnum):
    """The faults: what goes wrong."""

    RAISE = "raise"
    TRIGGER_ABORT = "trigger-abort"
    COMMIT_REFUSED = "commit-refused"
    INTERRUPT = "interrupt"
    LOCKED = "locked"
    BUSY_COMMIT = "busy-commit"
    DISK_FULL = "disk-full"
    READ_ONLY = "read-only"
    DENIED = "denied"
    IO_ERROR = "io-error"
    IO_FULL = "io-full"
    IO_SHORT = "io-short"
    CONNECTION_RESET = "connection-reset"
    ANSWER_LOST = "answer-lost"
    ANSWER_CUT = "answer-cut"
    SILENCE = "silence"
    SERVER_REFUSED = "server-refused"
    SESSION_ENDED = "session-ended"
    STATEMENT_CANCELLED = "statement-cancelled"
    LOCK_TIMEOUT = "lock-timeout"
    SERVER_FULL = "server-full"
    SESSIONS_ENDED = "sessions-ended"
    SERVER_KILLED = "server-killed"
    STANDSTILL = "standstill"
    FAILED_OVER = "failed-over"
    CANCEL = "cancel"
    KILL = "kill"


class Event(StrEnum):
    """The events that are counted in order to name a place."""

    STATEMENT = "statement"
    """A call of the program that executes SQL: execute, executemany or executescript."""
    BEGIN = "begin"
    """A call of the program that begins a transaction explicitly."""
    COMMIT = "commit"
    """A call of the program that commits: ``commit()``, the end of ``with connection:``, or COMMIT
    as SQL.
    """
    ROLLBACK = "rollback"
    """A call of the program that rolls back, in one of the three ways in which it can commit."""
    ENGINE_STATEMENT = "engine-statement"
    """A statement that the database engine starts to run, whoever asked for it."""
    TRANSACTION = "transaction"
    """A transaction with changes that reaches its commit, even if it is a single statement."""
    OPERATION = "operation"
    """Everything that happens while the plan is armed."""
    START = "start"
    """The beginning of an operation, before anything happens."""
    AWAIT = "await"
    """A suspension of the awaiting task, for instance at an awaited call of a database."""
    IO = "io"
    """An I/O call of the engine that opens or changes a file, of any kind."""
    OPEN = "open"
    WRITE = "write"
    SYNC = "sync"
    TRUNCATE = "truncate"
    DELETE = "delete"
    SYSTEM_CALL = "system-call"
    """A system call on one of the program's files, made by any library."""
    SEND = "send"
    """The opening of a connection to a server, or a message sent to one."""
    SERVER_WRITE = "server-write"
    """A row or key that a server writes."""


class Moment(StrEnum):
    """The side of its event on which a fault strikes."""

    BEFORE = "before"
    AFTER = "after"


class Lasts(StrEnum):
    """The duration of a fault."""

    ONCE = "once"
    ONWARDS = "onwards"


SIDES: Mapping[Fault, Side] = {
    Fault.RAISE: Side.CLIENT,
    Fault.CONNECTION_RESET: Side.NETWORK,
    Fault.ANSWER_LOST: Side.NETWORK,
    Fault.ANSWER_CUT: Side.NETWORK,
    Fault.SILENCE: Side.NETWORK,
    Fault.SESSION_ENDED: Side.NETWORK,
    Fault.SESSIONS_ENDED: Side.NETWORK,
    Fault.SERVER_KILLED: Side.NETWORK,
    Fault.STANDSTILL: Side.NETWORK,
    Fault.FAILED_OVER: Side.NETWORK,
    Fault.CANCEL: Side.CANCELLATION,
    Fault.KILL: Side.PROCESS,
}
"""The class of each fault that is not engine-side."""

INTERRUPTIONS = ("KeyboardInterrupt", "SystemExit")
"""The exceptions of a program that is to end. They are no ``Exception``, and do not come from the
driver.
"""

CLIENT_EVENTS = (Event.STATEMENT, Event.BEGIN, Event.COMMIT, Event.ROLLBACK)
IO_EVENTS = (Event.IO, Event.OPEN, Event.WRITE, Event.SYNC, Event.TRUNCATE, Event.DELETE)

EVENTS: Mapping[Fault, tuple[Event, ...]] = {
    Fault.RAISE: CLIENT_EVENTS,
    Fault.TRIGGER_ABORT: (Event.ENGINE_STATEMENT,),
    Fault.COMMIT_REFUSED: (Event.TRANSACTION,),
    Fault.INTERRUPT: (Event.ENGINE_STATEMENT,),
    Fault.LOCKED: (Event.ENGINE_STATEMENT,),
    Fault.BUSY_COMMIT: (Event.ENGINE_STATEMENT,),
    Fault.DISK_FULL: (Event.OPERATION,),
    Fault.READ_ONLY: (Event.OPERATION,),
    Fault.DENIED: (Event.ENGINE_STATEMENT,),
    Fault.IO_ERROR: (*IO_EVENTS, Event.SYSTEM_CALL),
    Fault.IO_FULL: (Event.IO, Event.WRITE, Event.SYNC, Event.SYSTEM_CALL),
    Fault.IO_SHORT: (Event.SYSTEM_CALL,),
    Fault.CONNECTION_RESET: (Event.SEND,),
    Fault.ANSWER_LOST: (Event.SEND,),
    Fault.ANSWER_CUT: (Event.SEND,),
    Fault.SILENCE: (Event.SEND,),
    Fault.SERVER_REFUSED: (Event.SERVER_WRITE,),
    Fault.SESSION_ENDED: (Event.SERVER_WRITE,),
    Fault.STATEMENT_CANCELLED: (Event.SERVER_WRITE,),
    Fault.LOCK_TIMEOUT: (Event.SERVER_WRITE,),
    Fault.SERVER_FULL: (Event.OPERATION,),
    Fault.SESSIONS_ENDED: (Event.START,),
    Fault.SERVER_KILLED: (Event.START, Event.SEND),
    Fault.STANDSTILL: (Event.START, Event.SEND),
    Fault.FAILED_OVER: (Event.START, Event.SEND),
    Fault.CANCEL: (Event.AWAIT,),
    Fault.KILL: (*CLIENT_EVENTS, Event.ENGINE_STATEMENT, Event.TRANSACTION, *IO_EVENTS),
}
"""The events at which each fault can strike."""

STANDING = frozenset({Fault.DISK_FULL, Fault.READ_ONLY})
"""Faults that are states of the database. They last until they are healed."""


def side_of(fault: Fault) -> Side:
    """Return the class that a fault belongs to."""
    return SIDES.get(fault, Side.ENGINE)
