"""Calls that are left in their middle by what is no `Exception`: a Ctrl-C, or a handler that exits.

Python raises these in the main thread, between any two steps of a program: before a call of the
driver as well, which knows nothing of it. A task is cancelled in another way: see the async API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle

from saverproof.families.atomicity.fault_plans import Injection, only_reads
from saverproof_faults import Call, Event, Fault, Place, Plan
from saverproof_faults.kinds import INTERRUPTIONS
from saverproof_faults.places import LEAVING
from saverproof_faults.plan import excerpt


def interruptions(calls: Sequence[Call]) -> list[Injection]:
    """One before each call that finds a transaction begun, the last one first: before it most was
    done. ``calls`` are those of the clean run.
    """
    errors = cycle(INTERRUPTIONS)
    plans = [
        Plan(
            Fault.RAISE,
            Place(call.event, call.index),
            error=next(errors),
            about=excerpt(call.sql),
        )
        for call in reversed([*within_transactions(calls)])
        if not call.elsewhere and _can_strike(call)
    ]
    return [Injection(plan) for plan in plans]


def within_transactions(calls: Iterable[Call]) -> Iterator[Call]:
    """The statements and commits that find a transaction begun."""
    begun = False
    for call in calls:
        if begun and call.event in (Event.STATEMENT, Event.COMMIT):
            yield call
        if call.event in (Event.COMMIT, Event.ROLLBACK):
            begun = False
        else:
            begun = begun or call.event is Event.BEGIN or not only_reads(call)


def _can_strike(call: Call) -> bool:
    """Return whether the program stands before it.

    The end of a block is the driver's own: if anything is raised before, it hears of that, as
    ``sqlite3`` is told.
    """
    return call.sql != LEAVING or call.method is None
