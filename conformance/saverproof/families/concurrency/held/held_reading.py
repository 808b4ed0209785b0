"""Holds reads, and copies, between their statements while another process changes what they read.

Only the store can keep two processes apart. Two statements see it at two moments, unless they are
in one transaction. Another process rarely writes between two statements by chance, so the read is
held there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.records import (
    FIRST_OF_ROUNDS,
    Operation,
    OperationKind,
    TimedCall,
    copy_of,
)
from saverproof.families.concurrency.callers.workload import TAGS_EACH, Able
from saverproof.families.concurrency.contract_ids import COPY, INSTANCES, TORN
from saverproof.families.concurrency.held import changes_elsewhere, held_reads
from saverproof.families.concurrency.held.held_reads import decoded
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.held.right_moments import moments
from saverproof.families.concurrency.histories.history_playing import PATIENCE_S, Sharing
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.programs.steps.codec import decode, encode
from saverproof_faults.kill import Body, DiedBy, TrialResult

SCENE, STOPPED = "held read", "stopped read"
PLACE, NUMBER = FIRST_OF_ROUNDS, 1
RUN = "a run that is over"
BEFORE = (
    Operation(OperationKind.PUT, PLACE, NUMBER, tag=TAGS_EACH, run=RUN),
    Operation(OperationKind.WRITES, PLACE, NUMBER, tag=TAGS_EACH + 1, task=100, count=3),
)
DELETED = Operation(OperationKind.DELETE, PLACE)
_AGAIN = Operation(OperationKind.PUT, PLACE, NUMBER, tag=TAGS_EACH + 2)
CHANGES = {
    "deleted": (DELETED,),
    "deleted, and put anew": (DELETED, _AGAIN),
    "put again": (_AGAIN,),
}
"""The changes that another process makes, by their names in a scene."""


@dataclass(frozen=True, slots=True)
class HeldOperation:
    """The operation that is held, and the contract that it breaks if it shows a mixture of two
    states.

    What reads nothing itself, as a copy, has in ``looks`` the read that shows what it made, and in
    ``clears`` what removes that. ``before`` is what is stored before the operation begins.
    """

    made: Operation
    contract: str = TORN
    looks: tuple[Operation, ...] = ()
    clears: tuple[Operation, ...] = ()
    before: tuple[Operation, ...] = BEFORE

    def beside(
        self, changes: Sequence[Sequence[Operation]], able: Able, most: int
    ) -> dict[str, Any]:
        """Return the arguments for a process that holds the operation at up to ``most`` places
        during each change.
        """
        return {
            "before": encode(self.before),
            "each": [encode(change) for change in changes],
            "ends": encode((DELETED,) if able.deletes else ()),
            "read": encode(self.made),
            "looks": encode(self.looks),
            "clears": encode(self.clears),
            "most": most,
        }


READS = (
    HeldOperation(Operation(OperationKind.GET, PLACE, NUMBER)),
    HeldOperation(Operation(OperationKind.LATEST, PLACE)),
    HeldOperation(Operation(OperationKind.LIST, PLACE)),
)
_COPY = HeldOperation(
    Operation(OperationKind.COPY, PLACE),
    COPY,
    (Operation(OperationKind.LIST, copy_of(PLACE)),),
    (Operation(OperationKind.DELETE, copy_of(PLACE)),),
)


@dataclass(frozen=True, slots=True)
class HeldAt:
    """The places where one kind of read was held.

    At the ``free`` ones the store lets others write. At the ``shut`` ones something of the saver's
    own seems to keep others out.
    """

    held: HeldOperation
    free: list[HoldPoint]
    shut: list[HoldPoint]


NO_PLACE = "no line of the saver, and no turn of a loop, is part of it"
_NAMES = {TORN: "reads", COPY: "copies"}
_HELD = {one.made.kind: one for one in (*READS, _COPY)}


def hold_reads(
    bench: CallerBench, able: Able, record: SceneRecord, most: int
) -> tuple[str, list[HeldAt]]:
    """Hold each kind of read at up to ``most`` places during each change, until a read shows a
    mixture of the states before and after the change.

    Return why some reads could not be held between their statements, "" if all could, and where
    each kind was held.
    """
    hows = [how for how, made in CHANGES.items() if able.deletes or DELETED not in made]
    untried: dict[str, None] = {}
    told: list[HeldAt] = []
    for held in READS:
        whys, where = hold(bench, able, record, held, hows, most)
        untried |= dict.fromkeys(whys)
        told += [where]
        record.tally.beat()
        # One read that shows a mixture does not hide another one that leaves an old answer behind.
        if record.is_complete({TORN, INSTANCES}):
            break
    return "; ".join(untried), told


def hold_copies(bench: CallerBench, able: Able, record: SceneRecord, most: int) -> None:
    """Hold a copy at up to ``most`` places during each change of what is copied.

    What a run adds does not tell: a copy that takes the checkpoints first, and their writes later,
    shows nothing that could not be. Only deletions and replacements show that these are two
    moments.
    """
    if able.deletes:
        whys, _ = hold(bench, able, record, _COPY, [*CHANGES], most)
        for why in whys:
            record.tally.note(why)
    record.tally.beat()


def again(bench: CallerBench, able: Able, data: Any, record: SceneRecord, most: int) -> None:
    """Play a recorded scene again."""
    held = _HELD[OperationKind(data["read"])]
    whys, _ = hold(bench, able, record, held, [data["change"]], most)
    if whys and held.contract not in record.found:
        record.tally.unknown[held.contract] = "; ".join(whys)


def hold(
    bench: CallerBench,
    able: Able,
    record: SceneRecord,
    held: HeldOperation,
    hows: Sequence[str],
    most: int,
) -> tuple[list[str], HeldAt]:
    """Play a call beside each of these changes. Return why some changes show nothing, or less than
    they could, and where the call was held.
    """
    said = held.made.kind.value
    arguments = held.beside([CHANGES[how] for how in hows], able, most)
    nowhere = HeldAt(held, [], [])
    value, why = played(bench, held_reads.read_held, arguments)
    if why:
        return [f"{said}: {why}"[:300]], nowhere
    if not value["places"]:
        return [f"{said}: {NO_PLACE}"], nowhere
    record.scenes[f"{_NAMES[held.contract]} that are held between statements"] += len(hows)
    whys = [
        judge(record, held, how, told, {"scene": SCENE})
        for how, told in zip(hows, value["each"], strict=True)
    ]
    shut = [*value["shut"], *(at for told in value["each"] for at in told["shut"])]
    free = [decode(HoldPoint, at) for at in value["free"] if at not in shut]
    where = HeldAt(held, free, [*dict.fromkeys(decode(HoldPoint, at) for at in shut)])
    return [f"{said} of a checkpoint that is {why}" for why in whys if why], where


def judge(
    record: SceneRecord,
    held: HeldOperation,
    how: str,
    told: Mapping[str, Any],
    scene: Mapping[str, Any],
) -> str:
    """Judge a call beside one change, in this kind of scene. Return why it shows nothing, or less
    than it could; "" if there is no such reason.
    """
    stood = "stopped" if scene["scene"] == STOPPED else "held"
    said = held.made.kind.value
    alone = decoded(told["alone"])
    if any(event.error for event in alone):
        return f"{how}: one caller alone could not do it"
    states = [event.shown for event in alone]
    due = [*moments(held.made, BEFORE, CHANGES[how])]
    problems: list[tuple[Problem, HoldPoint]] = []
    raised = 0
    for at, events in told["held"]:
        place = decode(HoldPoint, at)
        where = f"{stood} {place.describe()}"
        *made, seen = decoded(events)
        # A copy leaves nothing behind but itself.
        later = None if held.looks else seen
        if later is not None:
            seen = made.pop()
        record.tally.operations += len(events)
        if any(event.error for event in made):
            raised += 1
            continue
        if seen.error is not None:
            record.raised[f"{said}: {seen.error}"[:120]] += 1
        else:
            record.tally.agreed(held.contract)
            if seen.shown not in (*states, *due):
                problems.append((_torn(held, states, where, [*made, seen]), place))
        if later is not None and later.error is not None:
            record.raised[f"{said}, made again: {later.error}"[:120]] += 1
        elif later is not None:
            record.tally.agreed(INSTANCES)
            if later.shown not in (states[-1], due[-1]):
                calls = [*made, seen, later]
                problems.append((_stale(held, states[-1], where, calls), place))
    for contract in {problem.contract: None for problem, _ in problems}:
        problem, place = next(one for one in problems if one[0].contract == contract)
        whole = {**scene, "read": said, "change": how, "place": encode(place)}
        record.saw([problem], whole)
    if raised:
        return f"{how}: beside it, a change raised, at {raised} of its places"
    if left := told["left"]:
        return f"{how}: the change waits for the read, and {left} of its places were not tried"
    return ""


def played(
    bench: CallerBench, part: Body, arguments: Mapping[str, Any]
) -> tuple[Mapping[str, Any], str]:
    """Play a scene with two processes: one reads, the other changes what it reads. Return what the
    reading process reports, and why that shows nothing; "" if it shows something.
    """
    with bench.store() as store, TemporaryDirectory(dir=bench.folder) as folder:
        meeting = Path(folder, "meeting")
        Meeting.prepare(meeting, 2)
        both = {"patience_s": PATIENCE_S[Sharing.PROCESSES], **store, **arguments}
        both["meeting"] = str(meeting)
        results = bench.writers([(one, both) for one in (part, changes_elsewhere.make_changes)])
    # If the changing process could not go on, the reading one was told nothing more.
    whys = [why for result in reversed(results) if (why := not_over(result))]
    return results[0].value, next(iter(whys), "")


def not_over(result: TrialResult) -> str:
    """Return why a process did not come to the end of its scene; "" if it did."""
    if result.died_by is not DiedBy.FINISHED:
        return result.ending()
    value = result.value
    return value["trouble"] or ("not over in time" if value["standstill"] else "")


def _torn(held: HeldOperation, states: list[Any], where: str, events: list[TimedCall]) -> Problem:
    said = held.made.kind.value
    what = f"what {said} has made" if held.looks else said
    return Problem(
        held.contract,
        f"{what} shows parts of several moments, {where}",
        " or ".join(dict.fromkeys(in_words(shown) for shown in states)),
        in_words(events[-1].shown),
        tuple(events),
    )


def _stale(held: HeldOperation, expected: Any, where: str, events: list[TimedCall]) -> Problem:
    said = held.made.kind.value
    return Problem(
        INSTANCES,
        f"{said} does not show what another process changed while another {said} was {where}",
        in_words(expected),
        in_words(events[-1].shown),
        tuple(events),
    )


def in_words(shown: Any) -> str:
    """Return the answer of a read in words, for people."""
    return ", ".join(one.describe() for one in shown) or "nothing"
