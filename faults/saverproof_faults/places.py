"""What passed in a clean run: every place at which an operation could fail."""

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
"""What can happen to a message to a server."""
_OF_EACH_WRITE = (Fault.SERVER_REFUSED, Fault.SESSION_ENDED)
_BY_TURNS = (Fault.STATEMENT_CANCELLED, Fault.LOCK_TIMEOUT)
"""These leave behind what a refusal does, and are errors of another class."""
SERVER_FAULTS = (*_OF_EACH_WRITE, *_BY_TURNS, Fault.SERVER_FULL)
"""What a server can do instead of writing."""
OF_OWN_SERVERS = (Fault.SERVER_KILLED, Fault.STANDSTILL, Fault.FAILED_OVER)
"""What is done only to a server that nobody else uses."""
OUTAGES = (Fault.SESSIONS_ENDED, *OF_OWN_SERVERS)
"""What can become of a server and of all that are connected to it."""
_OF_ANSWERS = frozenset({Fault.ANSWER_LOST, Fault.ANSWER_CUT})


@dataclass(frozen=True, slots=True)
class Method:
    """The method of a driver that a call was: where it is defined, where the exceptions are that
    it raises, whether it is awaited, what its server refuses (see ClassDriver.refused), and how
    that is sent: ``manner`` is the value in ClassDriver.methods.
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

    ``sql`` is what it executes, ``commit()`` or ``rollback()`` for the methods, and LEAVING for the
    end of a ``with connection:``. ``rows`` is the length of an executemany's batch, else None.
    ``remote`` says that a server answers it: what it has done can be done although its answer is
    lost. An engine inside the process raises before a statement takes effect, or not at all.
    ``error`` is the driver's name for what it raises where the database could not do it, and
    ``method`` the driver's method, where it was exchanged on its class.
    """

    event: Event
    index: int
    sql: str
    rows: int | None = None
    remote: bool = False
    error: str = OPERATIONAL
    method: Method | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that SQLite ran, the ``number``-th of the operation, on ``connection``.

    ``rows`` counts the rows it wrote. ``locks`` says whether it could have met another's write lock
    (it writes, its own connection did not hold the lock yet, and the database is a file).
    ``commits`` says whether a transaction with changes reached its commit in it.
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
    """What one operation did.

    ``unproxied_statements`` were run by SQLite without any proxied call being under way:
    client-side faults cannot reach them. ``grew`` says whether a database file needed more pages;
    ``rollback_journal`` whether a reader could have stopped a commit (no WAL). ``system_calls`` are
    those on the program's files, which are failed but for those on files that a layer above fails
    (``failed_above``, by their paths). ``sends`` are the connections that it opened to servers, and
    what it sent to them. ``writes`` are the rows or keys that a server wrote, as "INSERT on
    checkpoints"; ``write_faults`` how it can fail there, and ``fails_all`` whether it then does for
    all who use it.
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
        """Whether anything was seen at all."""
        above = self.calls or self.statements or self.io_calls
        return bool(above or self.system_calls or self.sends or self.writes)

    def is_failed_above(self, call: SystemCall) -> bool:
        """Whether a layer that knows more of what is done fails the call."""
        return call.file in self.failed_above

    def as_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"failed_above": sorted(self.failed_above)}

    def plans(self, faults: Collection[Fault] | None = None) -> tuple[Plan, ...]:
        """Every single fault that can strike this operation, of all kinds or of those given."""
        chosen = [*self._client_plans(), *self._engine_plans(), *self._io_plans()]
        chosen += [*self._system_call_plans(), *self._network_plans()]
        chosen += [] if self.fails_all else self.failing_writes()
        return tuple(plan for plan in chosen if faults is None or plan.fault in faults)

    def _client_plans(self) -> list[Plan]:
        plans = []
        for call in self.calls:
            if call.remote and call.event is Event.BEGIN:
                continue  # A server refuses none; its connection can break there.
            about = excerpt(call.sql)
            places = [Place(call.event, call.index, Moment.BEFORE)]
            # After the last row is after the statement.
            places += [
                Place(call.event, call.index, Moment.AFTER, row) for row in range(1, call.rows or 1)
            ]
            # Where it can be lost for good, a driver does not only say so.
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
        """Every way in which the server can fail at a write; no part of ``plans`` where it would
        fail for others, too.
        """
        for index, write in enumerate(self.writes, start=1):
            for fault in (*_OF_EACH_WRITE, _BY_TURNS[index % len(_BY_TURNS)]):
                if fault in self.write_faults:
                    yield Plan(fault, Place(Event.SERVER_WRITE, index), about=write)
        if self.writes and Fault.SERVER_FULL in self.write_faults:
            yield Plan(Fault.SERVER_FULL, Place(Event.OPERATION))

    def server_deaths(self, fault: Fault = Fault.SERVER_KILLED) -> Iterator[Plan]:
        """Every moment at which the server can die: they are no part of ``plans``."""
        yield Plan(fault, Place(Event.START))
        for index, call in enumerate(self.sends, start=1):
            if call.kind is CallKind.SEND:
                for moment in (Moment.BEFORE, *([Moment.AFTER] if call.answered else [])):
                    place = Place(Event.SEND, index, moment)
                    yield Plan(fault, place, about=str(call))

    def standstills(self) -> Iterator[Plan]:
        """Moments at which the server can come to a standstill, the likeliest to tell first: what
        is sent last may be a commit. They are no part of ``plans`` either.
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
"""Writes in a row to one file of which each is worth failing: twelve pages in a log, with their
headers.
"""
_OF_LONGER = 6
"""How many are of a longer row, which only a long value leads to."""


def io_to_fail(io_calls: Sequence[str]) -> frozenset[int]:
    """The numbers, from 1, of the I/O calls that are worth failing: all of them, but of a long row
    of writes to one file only the first, the last and some between.
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


def _plans_of(statement: Statement, *, rollback_journal: bool) -> list[Plan]:
    about = excerpt(statement.sql)

    def at(fault: Fault, moment: Moment = Moment.BEFORE, row: int | None = None) -> Plan:
        return Plan(
            fault, Place(Event.ENGINE_STATEMENT, statement.number, moment, row), about=about
        )

    plans = [at(Fault.DENIED), at(Fault.INTERRUPT)]
    if statement.rows:
        plans += [at(Fault.TRIGGER_ABORT, row=row) for row in sorted({1, statement.rows})]
    if statement.locks:
        plans.append(at(Fault.LOCKED))
    if statement.commits and rollback_journal:
        plans.append(at(Fault.BUSY_COMMIT))
    return plans
