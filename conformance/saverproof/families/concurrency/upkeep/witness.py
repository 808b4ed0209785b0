"""Proves that a copy shows no single moment: by a cycle of calls each of which must come before the
next, with the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.families.concurrency.callers.records import Operation, OperationKind, TimedCall
from saverproof.families.concurrency.upkeep.upkeep_spec import ShownPlaces


def cycle_of(copy: TimedCall, run: Sequence[TimedCall], shown: ShownPlaces) -> str:
    """Return the shortest cycle in the order of a copy and of the calls of a run; "" if there is
    none.

    A call that the copy shows came before the copy, and a call that it does not show came after it.
    A call that had returned when another began came before that one. A copy of one moment has no
    cycle, and each pair of calls is looked at, so no cycle is missed.
    """
    done = [event for event in run if event.returned]
    left_out = [event for event in done if not is_shown(event.operation, shown)]
    for missing in left_out:
        if missing.ended < copy.began:
            return (
                f"{missing.operation.describe()} had returned when the copy began; the copy does "
                "not show it, so that it came after the copy"
            )
        for there in done:
            if missing.ended < there.began and is_shown(there.operation, shown):
                return (
                    f"({there.operation.describe()}) came before the copy, which shows it; "
                    f"({missing.operation.describe()}) came before that one, since it had returned "
                    "when the other began; and the copy came before this one, which it does not "
                    "show: a cycle"
                )
    return ""


def is_shown(made: Operation, shown: ShownPlaces) -> bool:
    """Return whether a thread shows what a call stored."""
    found = shown.tuples.get((made.place, made.number))
    if found is None:
        return False
    if made.kind is OperationKind.PUT:
        return found.parts == made.parts
    return (made.task, made.texts) in found.writes
