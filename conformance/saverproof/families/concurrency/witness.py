"""Shows by a cycle that a copy is of no moment: what comes before what, and why."""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.families.concurrency.records import Operation, OperationKind, TimedCall
from saverproof.families.concurrency.upkeep_spec import ShownPlaces


def cycle_of(copy: TimedCall, run: Sequence[TimedCall], shown: ShownPlaces) -> str:
    """The shortest cycle in the order of a copy and of the calls of a run; "" if there is none.

    A call that the copy shows came before it, one that it does not show came after it, and one that
    had returned when another began came before that one. A copy of a moment has no cycle: so none
    is missed if each pair is looked at.
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
    """Return whether what a call stored is there as it was stored."""
    found = shown.tuples.get((made.place, made.number))
    if found is None:
        return False
    if made.kind is OperationKind.PUT:
        return found.parts == made.parts
    return (made.task, made.texts) in found.writes
