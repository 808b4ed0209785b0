"""Plans what can fail in an operation: by the fault layers, and by failing serializers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeVar

from saverproof_faults import (
    Call,
    Event,
    Fault,
    Lasts,
    Moment,
    Place,
    Places,
    Plan,
    Side,
    Statement,
    io_to_fail,
)
from saverproof_faults.kinds import INTERRUPTIONS
from saverproof_faults.places import NETWORK_FAULTS, OUTAGES, SERVER_FAULTS

T = TypeVar("T")

SERIALIZER = "serializer"
CONNECTION = "connection-lost"
KILLED = "kill"
LOCKED_OUT = "locked-out"
INTERRUPTED = "interrupted-caller"
IO_FAULTS = frozenset({Fault.IO_ERROR, Fault.IO_FULL, Fault.IO_SHORT})
BELOW = IO_FAULTS | NETWORK_FAULTS.keys() | {*SERVER_FAULTS, *OUTAGES}
"""What fails below the driver: files, connections, and servers."""
_KINDS = {
    Side.CLIENT: "client",
    Side.ENGINE: "engine",
    Side.NETWORK: "network",
    Side.CANCELLATION: "cancellation",
}
_AT_THE_END = {Event.COMMIT: 1, Event.ROLLBACK: 1, Event.TRANSACTION: 1, Event.OPERATION: 2}
"""Events that come after the statements of an operation, or during all of it."""
_CAN_LAST = frozenset(
    {Fault.RAISE, Fault.IO_ERROR, Fault.IO_FULL, Fault.LOCKED, Fault.CONNECTION_RESET}
)


@dataclass(frozen=True, slots=True)
class Injection:
    """One injected fault.

    What fails is the place of ``plan``, or the ``value``-th value that is serialized. With neither,
    every connection is lost before the operation. ``also`` is a second plan, which need not fire.
    ``killed`` says that the process is killed before the operation, ``locked_out`` that another
    process keeps everybody out of the store's SQLite files.
    """

    plan: Plan | None = None
    value: int = 0
    also: Plan | None = None
    killed: bool = False
    locked_out: bool = False

    @property
    def lost(self) -> bool:
        """True if the fault is the loss of all connections."""
        others = self.value or self.killed or self.locked_out
        return self.plan is None and not others

    @property
    def interrupts(self) -> bool:
        """True if the caller is interrupted, without any failure."""
        plan = self.plan
        return plan is not None and plan.fault is Fault.RAISE and plan.error in INTERRUPTIONS

    @property
    def disconnects(self) -> bool:
        """True if a connection cannot be used afterwards."""
        return self.lost or self.kind == "network"

    @property
    def kind(self) -> str:
        """The class of the fault as reports have it."""
        if self.locked_out:
            return "engine"
        if self.killed:
            return KILLED
        if self.plan is None:
            return "connection" if self.lost else "serialization"
        return "io" if self.plan.fault in IO_FAULTS else _KINDS[self.plan.side]

    @property
    def name(self) -> str:
        """The fault as counted in reports: "raise", "trigger-abort", "serializer", …"""
        if self.locked_out:
            return LOCKED_OUT
        if self.killed:
            return KILLED
        if self.plan is None:
            return CONNECTION if self.lost else SERIALIZER
        return INTERRUPTED if self.interrupts else self.plan.fault.value

    @property
    def place(self) -> str:
        """The place at which the fault fires, in words."""
        if self.killed and self.plan is None:
            return "before the operation"
        if self.plan is None:
            at = f"value {self.value} of the operation to be serialized"
            return "before the operation" if self.lost else at
        where = self.plan.place.describe()
        standing = self.plan.place.event is Event.OPERATION
        once = standing or self.plan.lasts is Lasts.ONCE
        return where if once else f"{where}, and from there on"

    @property
    def order(self) -> tuple[float, ...]:
        """A sort key: faults of one kind, in the order in which an operation passes their
        places.
        """
        if self.plan is None:
            return (0, self.value)
        place = self.plan.place
        after = place.moment is Moment.AFTER
        row = place.row if place.row is not None else inf if after else 0
        return (_AT_THE_END.get(place.event, 0), place.index, after, row)

    @property
    def about(self) -> str:
        """The statement or the file at the place, if there is one."""
        return "" if self.plan is None else self.plan.about

    def describe(self) -> str:
        """Describe the fault in one sentence without its full stop."""
        if self.locked_out:
            return "another process keeps everybody out of the database file"
        if self.killed:
            inside = "" if self.plan is None else f" {self.plan.place.describe()}"
            return f"the process is killed{inside}, and another one opens the store"
        if self.plan is None:
            if self.lost:
                return "the connection to the database is lost before the operation"
            return f"the serializer raises at {self.place}"
        second = "" if self.also is None else f"; then {self.also.describe()}"
        return self.plan.describe() + second

    def as_data(self) -> dict[str, Any]:
        """Return the fault as plain data for JSON."""
        if self.locked_out:
            return {"fault": LOCKED_OUT}
        if self.killed:
            inside = {} if self.plan is None else {"inside": self.plan.as_data()}
            return {"fault": KILLED, **inside}
        if self.plan is None:
            return {"fault": self.name} | ({} if self.lost else {"value": self.value})
        data = self.plan.as_data()
        return data if self.also is None else data | {"also": self.also.as_data()}

    @classmethod
    def from_data(cls, data: object) -> Injection:
        """The inverse of ``as_data``.

        Raises:
            ValueError: the data is no injection; the one line says which field is wrong.
        """
        if not isinstance(data, Mapping):
            raise ValueError(f"fault: found {data!r}, expected an object")
        if data.get("fault") == CONNECTION:
            return cls()
        if data.get("fault") == LOCKED_OUT:
            return cls(locked_out=True)
        if data.get("fault") == KILLED:
            inside = data.get("inside")
            return cls(None if inside is None else Plan.from_data(inside), killed=True)
        if data.get("fault") == SERIALIZER:
            value = data.get("value")
            if type(value) is not int or value < 1:
                raise ValueError(f"fault.value: found {value!r}, expected a number from 1")
            return cls(value=value)
        also = data.get("also")
        plan = Plan.from_data({key: item for key, item in data.items() if key != "also"})
        return cls(plan, also=None if also is None else Plan.from_data(also))


SESSIONS_ENDED = Injection(Plan(Fault.SESSIONS_ENDED, Place(Event.START)))


def injections(places: Places, cancellations: Sequence[Plan], values: int) -> list[Injection]:
    """Return every single fault that can be injected into an operation, from the places that its
    clean run passed.

    ``values`` counts the values that were serialized.
    """
    refused = [Injection(value=number) for number in range(1, values + 1)]
    failed_io = io_to_fail(places.io_calls)
    idle = {s.number for s in places.statements if not _takes_lock(s)}
    reads = {call.index for call in places.calls if only_reads(call)}
    ends = _ends_of_reads(places.calls)
    plans = [
        plan
        for plan in places.plans()
        if not (plan.fault is Fault.LOCKED and plan.place.index in idle)
        and not (_after(plan) and plan.place.index in reads)
        and not (plan.place.event is Event.ROLLBACK and plan.place.index in ends)
        and not (plan.place.event is Event.IO and plan.place.index not in failed_io)
    ]
    return [*map(Injection, plans), *map(Injection, cancellations), *refused]


def _after(plan: Plan) -> bool:
    place = plan.place
    client = plan.fault is Fault.RAISE and place.event is Event.STATEMENT
    return client and place.moment is Moment.AFTER


def _ends_of_reads(calls: Iterable[Call]) -> frozenset[int]:
    """Return the rollbacks that undo nothing: no engine and no server refuses such a rollback, and
    what breaks a connection below its driver is tried there.
    """
    ends: set[int] = set()
    changed = False
    for call in calls:
        if call.event is Event.STATEMENT:
            changed = changed or not only_reads(call)
        elif call.event is Event.ROLLBACK and not changed:
            ends.add(call.index)
        else:
            # Changes before a BEGIN are committed already.
            changed = False
    return frozenset(ends)


def only_reads(call: Call) -> bool:
    """Return whether a call changes nothing. A failure after it is then the same as one before the
    next call.

    A driver that fails has reset its statement. If the kit raised after the first rows had come,
    the statement would stay open, which happens with no driver.
    """
    words = call.sql.upper().split()
    if call.event is not Event.STATEMENT or not words:
        return False
    changes = {"INSERT", "UPDATE", "DELETE", "REPLACE"}
    return words[0] in ("SELECT", "PRAGMA", "VALUES", "EXPLAIN") or (
        words[0] == "WITH" and not changes.intersection(words)
    )


def _takes_lock(statement: Statement) -> bool:
    """Return whether a statement surely fails if another connection holds the write lock. A
    statement that changes no row may succeed.
    """
    begins = statement.sql.upper().startswith("BEGIN")
    return begins or statement.commits or statement.rows > 0


def lasting(chosen: Iterable[Injection], calls: Sequence[Call]) -> Iterator[Injection]:
    """Return the chosen faults in other forms: lasting, with a failing rollback, or with other
    exceptions.

    ``calls`` are those of the clean run.
    """
    for injection in chosen:
        plan = injection.plan
        if plan is None:
            continue
        before = plan.place.moment is Moment.BEFORE
        if plan.fault in _CAN_LAST and before:
            yield Injection(replace(plan, lasts=Lasts.ONWARDS))
        if plan.fault is Fault.RAISE and before and plan.place.event is not Event.ROLLBACK:
            yield Injection(replace(plan, error="MemoryError"))
            yield Injection(plan, also=_next_rollback(plan.place, calls))


def _next_rollback(place: Place, calls: Sequence[Call]) -> Plan:
    """Return a plan that makes the rollback after a failure at the place fail. Earlier rollbacks,
    which only end a read, are counted as well.
    """
    passed = 0
    for call in calls:
        if (call.event, call.index) == (place.event, place.index):
            break
        passed += call.event is Event.ROLLBACK
    return Plan(Fault.RAISE, Place(Event.ROLLBACK, passed + 1, Moment.AFTER))


def spared(
    everything: Sequence[tuple[T, Injection]], fault: Fault, most: int
) -> list[tuple[T, Injection]]:
    """Return the plans, with at most ``most`` of those with this fault, evenly spread."""
    of_it = [at for at, (_, injection) in enumerate(everything) if injection.name == fault]
    left_out = {*of_it}.difference(thinned(of_it, most))
    return [pair for at, pair in enumerate(everything) if at not in left_out]


def covering(everything: Sequence[T], most: int, sort: Callable[[T], object]) -> list[T]:
    """Return at most ``most`` items, evenly spread, and the first item of each sort that would be
    missing.
    """
    chosen = {*thinned(range(len(everything)), most)}
    seen = {sort(everything[at]) for at in chosen}
    for at, item in enumerate(everything):
        if sort(item) not in seen:
            seen.add(sort(item))
            chosen.add(at)
    return [everything[at] for at in sorted(chosen)]


def thinned(everything: Sequence[T], most: int) -> list[T]:
    """Return at most ``most`` items, evenly spread."""
    count = len(everything)
    if count <= most:
        return list(everything)
    return [
        item
        for number, item in enumerate(everything)
        if (number + 1) * most // count > number * most // count
    ]
