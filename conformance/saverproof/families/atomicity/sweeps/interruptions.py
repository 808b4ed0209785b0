"""Interrupts a call as Ctrl-C or a signal handler that exits does: by what is not an `Exception`.

Python raises these in the main thread between any two steps of a program. So they may also come
before a call of the driver, and the driver does not notice. A task is cancelled in another way: see
the async API.
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
    """Return an interruption before each call within a transaction, the last one first: at that
    point most of the work is done. ``calls`` are those of the clean run.
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
    """Return the statements and commits that are called within a transaction."""
    begun = False
    for call in calls:
        if begun and call.event in (Event.STATEMENT, Event.COMMIT):
            yield call
        if call.event in (Event.COMMIT, Event.ROLLBACK):
            begun = False
        else:
            begun = begun or call.event is Event.BEGIN or not only_reads(call)


def _can_strike(call: Call) -> bool:
    """Return whether an interruption can strike before this call in the program's own code.

    It cannot before the end of a ``with`` block: the driver's own code runs there, and is told of
    any error that is raised before it, as in ``sqlite3``.
    """
    return call.sql != LEAVING or call.method is None
