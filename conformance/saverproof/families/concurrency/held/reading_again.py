"""Holds a read while another caller of the same saver changes what it reads, and reads again.

A slow read may put what it has read into a cache after others have changed it. Later reads then
show the old state. By chance this is hardly ever seen, since the next change of the same thread
makes the cache right again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import Operation, OperationKind, TimedCall
from saverproof.families.concurrency.callers.workload import TAGS_EACH, Able
from saverproof.families.concurrency.contract_ids import THREADS, TORN
from saverproof.families.concurrency.held import held_reading, read_again
from saverproof.families.concurrency.held.held_reading import (
    NO_PLACE,
    NUMBER,
    PLACE,
    READS,
    RUN,
    HeldOperation,
    in_words,
    not_over,
)
from saverproof.families.concurrency.held.held_reads import decoded
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.held.right_moments import moments
from saverproof.families.concurrency.histories.history_playing import PATIENCE_S, Sharing
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.programs.steps.codec import decode, encode
from saverproof_faults.kill import DiedBy, TrialResult

SCENE = "read again"
_WRITES = Operation(OperationKind.WRITES, PLACE, NUMBER, tag=TAGS_EACH + 3, task=101, count=2)
_NEXT = Operation(OperationKind.PUT, PLACE, NUMBER + 1, tag=TAGS_EACH + 4, parent=NUMBER)
CHANGES = {
    "given writes": (_WRITES,),
    "followed by another": (_NEXT,),
    "put again": held_reading.CHANGES["put again"],
    "deleted": held_reading.CHANGES["deleted"],
    "deleted with its run": (Operation(OperationKind.DELETE_RUN, PLACE, run=RUN),),
    "pruned away": (Operation(OperationKind.PRUNE_ALL, PLACE),),
}
"""The changes that another caller makes, by their names in a scene."""


def read_beside_changes(bench: CallerBench, able: Able, record: SceneRecord, most: int) -> None:
    """Hold each kind of read at up to ``most`` places during each change, and read again, until a
    read shows an outdated state.
    """
    removes = {
        OperationKind.DELETE: able.deletes,
        OperationKind.DELETE_RUN: able.deletes_runs,
        OperationKind.PRUNE_ALL: able.prunes,
    }
    hows = [how for how, (made,) in CHANGES.items() if removes.get(made.kind, True)]
    for held in READS:
        for why in _hold(bench, able, record, held, hows, most):
            record.tally.note(why)
        record.tally.beat()
        if THREADS in record.found:
            return


def again(bench: CallerBench, able: Able, data: Any, record: SceneRecord, most: int) -> None:
    """Play a recorded scene again."""
    (held,) = [one for one in READS if one.made.kind == data["read"]]
    whys = _hold(bench, able, record, held, [data["change"]], most)
    if whys and not record.found:
        record.tally.unknown[THREADS] = "; ".join(whys)


def _hold(
    bench: CallerBench,
    able: Able,
    record: SceneRecord,
    held: HeldOperation,
    hows: Sequence[str],
    most: int,
) -> list[str]:
    """Play a read beside each of these changes. Return the reasons why some of them show
    nothing.
    """
    said = held.made.kind.value
    arguments = held.beside([CHANGES[how] for how in hows], able, most)
    arguments["patience_s"] = PATIENCE_S[Sharing.SHARED]
    with bench.store() as store:
        result = bench.played(read_again.read_again, {**store, **arguments})
    if hung := never_answered(held, hows, result):
        record.saw([hung], {"scene": SCENE, "read": said, "change": _under_way(hows, result)})
        record.hung.add(THREADS)
        return []
    if why := not_over(result):
        return [f"{said}, made again after changes beside it: {why}"[:300]]
    if not result.value["places"]:
        return [f"{said}, made again after changes beside it: {NO_PLACE}"]
    scenes = zip(hows, result.value["each"], strict=True)
    whys = [_judge(record, held, how, told) for how, told in scenes]
    return [f"{said} of a checkpoint that is {why}" for why in whys if why]


def _under_way(hows: Sequence[str], result: TrialResult) -> str:
    """Return the change that was under way when the scene ended."""
    return hows[min(len(result.value["each"]), len(hows) - 1)]


def never_answered(held: HeldOperation, hows: Sequence[str], result: TrialResult) -> Problem | None:
    """Return the problem of a held call and a change that are never answered, if each is answered
    to one caller alone.
    """
    still = result.value["standstill"] if result.died_by is DiedBy.FINISHED else None
    if still is None or not still["hung"]:
        return None
    if result.value["answered_alone"] <= len(result.value["each"]):
        return None
    said = held.made.kind.value
    return Problem(
        THREADS,
        f"{said} of a checkpoint that is {_under_way(hows, result)} meanwhile is never answered",
        "every call to be answered",
        f"no answer for {still['seconds']:g} s",
        stacks=still["stacks"],
    )


def _judge(record: SceneRecord, held: HeldOperation, how: str, told: Mapping[str, Any]) -> str:
    """Judge a read beside one change. Return why it shows nothing; "" if there is no such
    reason.
    """
    record.scenes["reads that are held, and made again"] += 1
    alone = decoded(told["alone"])
    if any(event.error for event in alone):
        return f"{how}: one caller alone could not do it"
    states = [event.shown for event in alone]
    if all(shown == states[0] for shown in states):
        # The read shows nothing of this change, so whatever it leaves behind is right.
        return ""
    due = [*moments(held.made, held_reading.BEFORE, CHANGES[how])]
    for at, events in told["held"]:
        place = decode(HoldPoint, at)
        *made, seen, later = decoded(events)
        record.tally.operations += len(events)
        if error := next((event.error for event in (*made, seen, later) if event.error), None):
            # Histories judge what callers of one saver raise.
            record.raised[f"{held.made.kind.value}, made again: {error}"[:120]] += 1
            continue
        record.tally.agreed(THREADS)
        record.tally.agreed(TORN)
        scene = {
            "scene": SCENE,
            "read": held.made.kind.value,
            "change": how,
            "place": encode(place),
        }
        if later.shown not in (states[-1], due[-1]):
            record.saw([_stale(held, states[-1], place, [*made, seen, later])], scene)
            return ""
        if seen.shown not in (*states, *due):
            record.saw([_torn(held, states, place, [*made, seen])], scene)
            return ""
    if left := told["left"]:
        return f"{how}: the change waits for the read, and {left} of its places were not tried"
    return ""


def _stale(
    held: HeldOperation, expected: Any, place: HoldPoint, events: list[TimedCall]
) -> Problem:
    said = held.made.kind.value
    return Problem(
        THREADS,
        f"{said} does not show what changed while another {said} was held {place.describe()}",
        in_words(expected),
        in_words(events[-1].shown),
        tuple(events),
    )


def _torn(
    held: HeldOperation, states: list[Any], place: HoldPoint, events: list[TimedCall]
) -> Problem:
    return Problem(
        TORN,
        f"{held.made.kind.value} shows parts of several moments, held {place.describe()}",
        " or ".join(dict.fromkeys(map(in_words, states))),
        in_words(events[-1].shown),
        tuple(events),
    )
