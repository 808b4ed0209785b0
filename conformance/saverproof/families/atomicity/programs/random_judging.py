"""Judges one call of a random program by what is seen before and after it.

A second store, in which nothing fails, shows what should be seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.trials.observation import TrialObservation
from saverproof.families.atomicity.verdicts import (
    CANCELLED,
    IN_FLIGHT,
    LATE,
    LOST_CONNECTION,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
    broken,
)
from saverproof.savers.execution.view import Contents, Snapshot


@dataclass(frozen=True, slots=True)
class Expected:
    """The states that a call may leave: the one without it, and the one with all of it. ``earlier``
    are states before calls that had returned: if one of them is seen again, these calls are lost.
    """

    before: Snapshot
    after: Snapshot
    earlier: tuple[Snapshot, ...] = ()


def unusable_after(injection: Injection | None) -> str:
    """Return the contract that is broken if a saver does not work after a fault of this kind."""
    if injection is not None and injection.disconnects:
        return LOST_CONNECTION
    return CANCELLED if _cancelled(injection) else USABLE


def stored_by(injection: Injection | None) -> str:
    """Return the contract that is broken if a call returned under a fault of this kind, and is not
    stored.
    """
    return CANCELLED if _cancelled(injection) else SILENT


def torn_by(injection: Injection | None) -> str:
    """Return the contract that is broken if a call under a fault of this kind is stored in part."""
    if injection is not None and injection.killed:
        return IN_FLIGHT
    return CANCELLED if _cancelled(injection) else WHOLE


def judged_without_fault(
    ended: TrialObservation, expected: Expected, seen: Snapshot
) -> FaultVerdict | None:
    """Return the verdict on a call without a fault."""
    if not ended.returned:
        return broken(USABLE, "a step without a fault fails", "to work", ended.said)
    if seen == expected.after:
        return None
    if seen in (expected.before, *expected.earlier):
        return broken(SILENT, "a step without a fault returned, and is not stored")
    return broken(LATE, "a step without a fault stores something else", observed=ended.said)


def judged_under_fault(
    ended: TrialObservation,
    injection: Injection | None,
    expected: Expected,
    seen: Snapshot,
    *,
    locked: bool,
) -> FaultVerdict | None:
    """Return the verdict on a call under a fault; ``locked`` says that nobody else could write
    afterwards.
    """
    unusable = unusable_after(injection)
    if seen.unreadable is not None:
        return broken(unusable, "it failed, and reading fails", observed=seen.unreadable)
    if ended.returned and seen != expected.after:
        return broken(
            stored_by(injection), "it returned, and is not stored", "all of it", ended.said
        )
    if seen in expected.earlier:
        return broken(SILENT, "it failed, and what had returned before is gone", "all of that")
    if seen not in (expected.before, expected.after):
        return broken(
            torn_by(injection), "it failed, and part of it is seen", "nothing", ended.said
        )
    if locked:
        return broken(unusable, "it failed, and nobody else can write", observed=ended.said)
    return None


def judged_once_closed(before: Snapshot, seen: Snapshot) -> FaultVerdict | None:
    """Return the verdict on a store after its saver has lived through faults and was closed.

    ``before`` is what that saver showed last, ``seen`` what a fresh saver shows. If ``seen`` has
    all of ``before`` and more, the rest comes from calls that had failed.
    """
    if seen == before:
        return None
    if seen.unreadable is not None:
        return broken(SILENT, "once the saver was closed, reading fails", observed=seen.unreadable)
    shown, stored = "a fresh saver sees something else", before.keys()
    if all(_has_all_of(before.at(key), seen.at(key)) for key in stored):
        summary = "more is stored once the saver was closed than it showed before"
        return broken(LATE, summary, "what it showed before", shown)
    summary = "what returned is not stored: it is gone once the saver was closed"
    return broken(SILENT, summary, "all of it", shown)


def _has_all_of(before: Contents | None, seen: Contents | None) -> bool:
    """Return whether a checkpoint is as it was, except for further pending writes."""
    if before is None or seen is None:
        return before is None
    writes = seen["writes"]
    alike = {**seen, "writes": before["writes"]} == before
    return alike and all(write in writes for write in before["writes"])


def judged_as_read(verdict: FaultVerdict, injection: Injection | None) -> FaultVerdict:
    """Return the verdict on a call that was a read. It stores nothing, so whatever differs after it
    is the saver's own view.
    """
    summary = verdict.summary
    if verdict.contract not in (USABLE, LOST_CONNECTION):
        summary = "after a read that did not end well, the saver shows something else"
    return replace(verdict, contract=unusable_after(injection), outcome="stuck", summary=summary)


def _cancelled(injection: Injection | None) -> bool:
    return injection is not None and injection.kind == "cancellation"
