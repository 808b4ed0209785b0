"""Holds a put of a run at one of its places while the run's thread is deleted.

A put may look up in one transaction which values are stored, and store the rest in another one. By
chance a deletion hardly ever comes between the two, so the put is held there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import Operation, OperationKind, TimedCall
from saverproof.families.concurrency.callers.workload import Able
from saverproof.families.concurrency.contract_ids import (
    DELETION,
    INSTANCES,
    LATE,
    PROCESSES,
    THREADS,
)
from saverproof.families.concurrency.held import held_reads, read_again
from saverproof.families.concurrency.held.held_reading import (
    DELETED,
    NO_PLACE,
    PLACE,
    HeldOperation,
    in_words,
    not_over,
    played,
)
from saverproof.families.concurrency.held.held_reads import decoded
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.held.reading_again import never_answered
from saverproof.families.concurrency.histories.history_playing import PATIENCE_S, Sharing
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.programs.steps.codec import decode, encode

SCENE = "held put"
_LATE_PUT = Operation(OperationKind.PUT, PLACE, 3, tag=1_001, parent=2, carries=True)
_HELD = HeldOperation(
    _LATE_PUT,
    LATE,
    looks=(Operation(OperationKind.LIST, PLACE),),
    before=(
        Operation(OperationKind.PUT, PLACE, 1, tag=1),
        Operation(OperationKind.PUT, PLACE, 2, tag=1_000, parent=1, carries=True),
    ),
)


class Deleter(StrEnum):
    """Who deletes the thread while the put is held."""

    PROCESS = "another process"
    CALLER = "another caller of the same saver"

    @property
    def hiding(self) -> frozenset[str]:
        """The contracts that, once broken, would show here as well."""
        return frozenset({PROCESSES, INSTANCES} if self is Deleter.PROCESS else {THREADS})


def hold_puts(bench: CallerBench, able: Able, record: SceneRecord, most: int) -> None:
    """Hold a put at up to ``most`` places while the thread is deleted, until something of the
    thread comes back. What could not be tried is no pass.
    """
    untried: list[str] = []
    for by in Deleter:
        apart = by is Deleter.PROCESS
        if record.is_complete({LATE, DELETION}) or (
            apart and PROCESSES not in record.tally.applicable
        ):
            continue
        if broken := by.hiding & {*record.found, *record.hung}:
            untried.append(f"{_said(by)}: not played, since {min(broken)} is broken")
        elif why := _hold(bench, able, record, by, most):
            untried.append(why)
        record.tally.beat()
    if untried and LATE not in record.found:
        record.tally.withdraw(LATE, "; ".join(untried))


def again(bench: CallerBench, able: Able, data: Any, record: SceneRecord, most: int) -> None:
    """Play a recorded scene again."""
    why = _hold(bench, able, record, Deleter(data["by"]), most)
    if why:
        record.tally.unsure((LATE, DELETION), why)


def _hold(bench: CallerBench, able: Able, record: SceneRecord, by: Deleter, most: int) -> str:
    """Play the scene once. Return why it shows nothing, or less than it could; "" if there is no
    such reason.
    """
    arguments = _HELD.beside([(DELETED,)], able, most)
    if by is Deleter.PROCESS:
        value, why = played(bench, held_reads.read_held, arguments)
    else:
        arguments["patience_s"] = PATIENCE_S[Sharing.SHARED]
        with bench.store() as store:
            result = bench.played(read_again.read_again, {**store, **arguments})
        if hung := never_answered(_HELD, ["deleted"], result):
            record.saw([hung], {"scene": SCENE, "by": by.value})
            record.hung.add(THREADS)
            return ""
        value, why = result.value, not_over(result)
    if why or not value["places"]:
        return f"{_said(by)}: {why or NO_PLACE}"[:300]
    record.scenes["puts that are held while their thread is deleted"] += 1
    (told,) = value["each"]
    return _judge(record, by, told)


def _judge(record: SceneRecord, by: Deleter, told: Mapping[str, Any]) -> str:
    alone = decoded(told["alone"])
    if alone[0].error:
        return f"{_said(by)}: one caller alone is refused it"
    contract, what = wrong_with(alone[-1])
    if contract == DELETION:
        return f"{_said(by)}: one caller alone is shown what was deleted"
    if contract:
        _tell(record, by, contract, f"after {by.value} has deleted its thread, {what}", alone[-1:])
        return ""
    for at, events in told["held"]:
        *made, seen = decoded(events)
        record.tally.operations += len(events)
        if any(event.error for event in made if event.operation != _LATE_PUT):
            continue
        record.tally.agreed(LATE)
        contract, what = wrong_with(seen)
        if not contract:
            continue
        place = decode(HoldPoint, at)
        where = f"held {place.describe()} while {by.value} deletes its thread, {what}"
        _tell(record, by, contract, where, [*made, seen], {"place": encode(place)})
        return ""
    if left := told["left"]:
        return f"{_said(by)}: the deletion waits for the put, and {left} places were not tried"
    return ""


def _tell(
    record: SceneRecord,
    by: Deleter,
    contract: str,
    how: str,
    events: list[TimedCall],
    more: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    seen = events[-1]
    whole = f"an error, or nothing, or all that was put: {' '.join(sorted(set(_LATE_PUT.parts)))}"
    problem = Problem(
        contract,
        f"a put, {how}",
        "nothing of before the deletion" if contract == DELETION else whole,
        seen.error or in_words(seen.shown),
        tuple(events),
    )
    record.saw([problem], {"scene": SCENE, "by": by.value, **more})


def wrong_with(seen: TimedCall) -> tuple[str, str]:
    """Return the contract that the last call shows to be broken, and how; two empty texts if it
    shows that the late put was refused, or is gone, or is whole.

    The last call is the put itself, if it raised, or else a listing of the thread.
    """
    if seen.operation == _LATE_PUT:
        return "", ""
    before = {made.number for made in _HELD.before}
    if any(one.number in before for one in seen.shown):
        return DELETION, "brings back what was there before"
    late = [(one.number, one.parts) for one in seen.shown]
    if not seen.returned or late not in ([], [(_LATE_PUT.number, _LATE_PUT.parts)]):
        return LATE, "brings the thread back with a part of its state"
    return "", ""


def _said(by: Deleter) -> str:
    return f"a put that is held while {by.value} deletes its thread"
