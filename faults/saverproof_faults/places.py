"""Places: every moment of an operation at which it could fail, as a clean run passed them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from saverproof_faults.kinds import Event, Fault, Lasts, Moment
from saverproof_faults.plan import OPERATIONAL, Place, Plan, excerpt
from saverproof_faults.syscalls.calls import SystemCall
from saverproof_faults.syscalls.numbers import CallKind
from saverproof_faults.syscalls.plan import CallFailure, can_fail

LEAVING = "leaving the block"
STORAGE_FAULTS = {
    Fault.IO_ERROR: CallFailure.IO_ERROR,
    Fault.IO_FULL: CallFailure.DISK_FULL,
    Fault.IO_SHORT: CallFailure.SHORT_WRITE,
}
"""The faults that a system call on a file can end with."""
NETWORK_FAULTS = {
    Fault.CONNECTION_RESET: CallFailure.RESET,
    Fault.ANSWER_LOST: CallFailure.ANSWER_LOST,
    Fault.ANSWER_CUT: CallFailure.ANSWER_CUT,
    Fault.SILENCE: CallFailure.SILENCE,
}
"""The faults that a message to a server can meet."""
_OF_EACH_WRITE = (Fault.SERVER_REFUSED, Fault.SESSION_ENDED)
_BY_TURNS = (Fault.STATEMENT_CANCELLED, Fault.LOCK_TIMEOUT)
"""Faults with the same effect as SERVER_REFUSED, and another class of errors. Each write gets one
of them, by turns.
"""
SERVER_FAULTS = (*_OF_EACH_WRITE, *_BY_TURNS, Fault.SERVER_FULL)
"""The faults by which a server can fail at a write."""
OF_OWN_SERVERS = (Fault.SERVER_KILLED, Fault.STANDSTILL, Fault.FAILED_OVER)
"""The faults that are made only in a server that nobody else uses."""
OUTAGES = (Fault.SESSIONS_ENDED, *OF_OWN_SERVERS)
"""The faults that strike a server and all its connections at once."""
_OF_ANSWERS = frozenset({Fault.ANSWER_LOST, Fault.ANSWER_CUT})


@dataclass(frozen=True, slots=True)
class Method:
    """The method of a driver that a call was made by.

    It says where the method is defined, where the exceptions are that it raises, and whether it is
    awaited. ``refused`` is ClassDriver's, and ``manner`` the method's value in ClassDriver.methods.
    """

    module: str
    owner: str
    name: str
    manner: str
    errors: str
    awaited: bool
    refused: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the program that passed an interceptor: the ``index``-th of its event.

    ``sql`` is what it executes. It is ``commit()`` or ``rollback()`` for those methods, and LEAVING
    for the end of a ``with connection:``. ``rows`` is the number of rows in an executemany's batch,
    else None. ``remote`` says that a server answers the call. Such a call may take effect although
    its answer is lost, while an engine inside the process raises before a statement takes effect,
    or not at all. ``error`` is the driver's name for the exception that says that the database
    failed. ``method`` is the driver's method, if the driver is a ClassDriver. ``elsewhere`` says
    that the call was made by a thread other than the one that asked for the count.
    """

    event: Event
    index: int
    sql: str
    rows: int | None = None
    remote: bool = False
    error: str = OPERATIONAL
    method: Method | None = None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that SQLite ran, the ``number``-th of the operation, on ``connection``.

    ``rows`` counts the rows that it wrote. ``locks`` says whether it could have met the write lock
    of another connection: it writes to a database in a file, and its own connection did not hold
    the lock yet. ``commits`` says whether a transaction with changes reached its commit in it.
    """

    number: int
    sql: str
    connection: int
    writes: bool
    rows: int
    locks: bool
    commits: bool
    finished: bool
    proxied: bool


@dataclass(frozen=True, slots=True)
class Places:
    """The places that one operation passed.

    ``unproxied_statements`` are statements that SQLite ran outside any proxied call: client-side
    faults cannot reach them. ``grew`` says whether a database file needed more pages;
    ``rollback_journal`` whether a reader could have blocked a commit (there is no WAL).

    ``system_calls`` are those on the program's files. Those on the paths in ``failed_above`` are
    not failed here, because another layer fails them. ``sends`` are the connections that the
    operation opened to servers, and the messages that it sent. ``writes`` are the rows or keys that
    a server wrote, such as "INSERT on checkpoints"; ``write_faults`` are the faults that it can
    have there, and ``fails_all`` says that such a fault strikes all users of the server.
    """

    calls: tuple[Call, ...] = ()
    statements: tuple[Statement, ...] = ()
    transactions: int = 0
    rollbacks: int = 0
    io_calls: tuple[str, ...] = ()
    unproxied_connections: int = 0
    unproxied_statements: int = 0
    grew: bool = False
    rollback_journal: bool = False
    system_calls: tuple[SystemCall, ...] = ()
    failed_above: frozenset[str] = frozenset()
    sends: tuple[SystemCall, ...] = ()
    writes: tuple[str, ...] = ()
    write_faults: tuple[Fault, ...] = ()
    fails_all: bool = False

    def __bool__(self) -> bool:
        """True if anything was seen at all."""
        above = self.calls or self.statements or self.io_calls
        return bool(above or self.system_calls or self.sends or self.writes)

    def is_failed_above(self, call: SystemCall) -> bool:
        """Return whether a layer that knows more about the file makes the call fail."""
        return call.file in self.failed_above

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self) | {"failed_above": sorted(self.failed_above)}

    def plans(self, faults: Collection[Fault] | None = None) -> tuple[Plan, ...]:
        """Return every single fault that can strike this operation, or those of some kinds."""
        chosen = [*self._client_plans(), *self._engine_plans(), *self._io_plans()]
        chosen += [*self._system_call_plans(), *self._network_plans()]
        chosen += [] if self.fails_all else self.failing_writes()
        return tuple(plan for plan in chosen if faults is None or plan.fault in faults)

    def _client_plans(self) -> list[Plan]:
        plans = []
        for call in self.calls:
            if call.remote and call.event is Event.BEGIN:
                continue  # no server refuses a rollback; its connection can break there
            about = excerpt(call.sql)
            places = [Place(call.event, call.index, Moment.BEFORE)]
            # A fault after the last row is the same as one after the statement.
            places += [
                Place(call.event, call.index, Moment.AFTER, row) for row in range(1, call.rows or 1)
            ]
            # Where messages are seen, the answer is really lost: no driver has to pretend it.
            if call.remote and not self.sends:
                places += [Place(call.event, call.index, Moment.AFTER)]
            plans += [Plan(Fault.RAISE, place, error=call.error, about=about) for place in places]
        return plans

    def _engine_plans(self) -> list[Plan]:
        plans = []
        for statement in self.statements:
            plans += _plans_of(statement, rollback_journal=self.rollback_journal)
        plans += [
            Plan(Fault.COMMIT_REFUSED, Place(Event.TRANSACTION, index))
            for index in range(1, self.transactions + 1)
        ]
        throughout = Place(Event.OPERATION)
        if any(statement.writes for statement in self.statements):
            plans.append(Plan(Fault.READ_ONLY, throughout, Lasts.ONWARDS))
        if self.grew:
            plans.append(Plan(Fault.DISK_FULL, throughout, Lasts.ONWARDS))
        return plans

    def _system_call_plans(self) -> list[Plan]:
        return [
            Plan(fault, Place(Event.SYSTEM_CALL, index), about=str(call))
            for index, call in enumerate(self.system_calls, start=1)
            for fault, failure in STORAGE_FAULTS.items()
            if can_fail(call, failure) and not self.is_failed_above(call)
        ]

    def _network_plans(self) -> list[Plan]:
        return [
            Plan(fault, Place(Event.SEND, index), about=str(call))
            for index, call in enumerate(self.sends, start=1)
            for fault, failure in NETWORK_FAULTS.items()
            if can_fail(call, failure) and (call.answered or fault not in _OF_ANSWERS)
        ]

    def failing_writes(self) -> Iterator[Plan]:
        """Yield every way in which the server can fail at a write.

        They are part of ``plans`` unless they would strike other users of the server.
        """
        for index, write in enumerate(self.writes, start=1):
            for fault in (*_OF_EACH_WRITE, _BY_TURNS[index % len(_BY_TURNS)]):
                if fault in self.write_faults:
                    yield Plan(fault, Place(Event.SERVER_WRITE, index), about=write)
        if self.writes and Fault.SERVER_FULL in self.write_faults:
            yield Plan(Fault.SERVER_FULL, Place(Event.OPERATION))

    def server_deaths(self, fault: Fault = Fault.SERVER_KILLED) -> Iterator[Plan]:
        """Yield a plan for every moment at which the server can die. ``plans`` leaves them out."""
        yield Plan(fault, Place(Event.START))
        for index, call in enumerate(self.sends, start=1):
            if call.kind is CallKind.SEND:
                for moment in (Moment.BEFORE, *([Moment.AFTER] if call.answered else [])):
                    place = Place(Event.SEND, index, moment)
                    yield Plan(fault, place, about=str(call))

    def standstills(self) -> Iterator[Plan]:
        """Yield plans for moments at which the server can stand still. ``plans`` leaves them out.

        The last message comes first: it may be a commit, so it is the most likely to show
        something.
        """
        for index, call in reversed([*enumerate(self.sends, start=1)]):
            if call.kind is CallKind.SEND and call.answered:
                yield Plan(Fault.STANDSTILL, Place(Event.SEND, index), about=str(call))
        yield Plan(Fault.STANDSTILL, Place(Event.START))

    def _io_plans(self) -> list[Plan]:
        plans = []
        for index, call in enumerate(self.io_calls, start=1):
            place = Place(Event.IO, index)
            plans.append(Plan(Fault.IO_ERROR, place, about=call))
            if call.startswith((Event.WRITE.value, Event.SYNC.value)):
                plans.append(Plan(Fault.IO_FULL, place, about=call))
        return plans


_LONGEST_ROW = 24
"""The longest row of writes to one file that are all made to fail: twelve pages in a log, with
their headers.
"""
_OF_LONGER = 6
"""How many writes of a longer row are made to fail. Only a long value leads to such a row, and its
middle is all alike.
"""


def io_to_fail(io_calls: Sequence[str]) -> frozenset[int]:
    """Return the numbers, from 1, of the I/O calls that are worth a fault.

    These are all, except that a long row of writes to one file keeps only the first, the last, and
    some in between.
    """
    chosen: set[int] = set()
    numbered = enumerate(io_calls, start=1)
    for (kind, _), row in groupby(numbered, key=lambda call: call[1].split(" ")[:2]):
        numbers = [number for number, _ in row]
        if kind == Event.WRITE and len(numbers) > _LONGEST_ROW:
            third = _OF_LONGER // 3
            between = numbers[third:-third]
            numbers = [*numbers[:third], *between[:: len(between) // third], *numbers[-third:]]
        chosen |= {*numbers}
    return frozenset(chosen)


def is_rollback(sql: str) -> bool:
    """Return whether a statement ends a whole transaction by undoing it."""
    words = sql.upper().rstrip(" ;").split()
    return words in (["ROLLBACK"], ["ROLLBACK", "TRANSACTION"])


def _plans_of(statement: Statement, *, rollback_journal: bool) -> list[Plan]:
    about = excerpt(statement.sql)

    def at(fault: Fault, moment: Moment = Moment.BEFORE, row: int | None = None) -> Plan:
        return Plan(
            fault, Place(Event.ENGINE_STATEMENT, statement.number, moment, row), about=about
        )

    plans = [] if is_rollback(statement.sql) else [at(Fault.DENIED), at(Fault.INTERRUPT)]
    if statement.rows:
        plans += [at(Fault.TRIGGER_ABORT, row=row) for row in sorted({1, statement.rows})]
    if statement.locks:
        plans.append(at(Fault.LOCKED))
    if statement.commits and rollback_journal:
        plans.append(at(Fault.BUSY_COMMIT))
    return plans
