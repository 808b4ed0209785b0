"""Plays single scenes and judges them: iterations, reads of what does not exist, races for a new
store.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from saverproof.capability import Capability
from saverproof.families.concurrency.callers import child
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.records import Operation, OperationKind, TimedCall
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.contract_ids import FIRST, ITERATION, NOTHING, PROCESSES
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes import firstuse, iteration, read_side_effects
from saverproof.families.concurrency.scenes.firstuse import held
from saverproof.families.concurrency.scenes.iteration import By
from saverproof.programs.steps.codec import decode, encode
from saverproof.savers.execution.sqlite_files import sqlite_files
from saverproof_faults.kill import DiedBy, TrialResult, View

RACERS = 4


def died(contract: str, result: TrialResult) -> Problem | None:
    """Return the problem that the end of a scene's process shows; None if the process returned."""
    if result.died_by is DiedBy.SIGNAL:
        how = result.ending()
        return Problem(contract, how, "no call to end the process", how, stacks=result.stacks)
    if result.died_by is DiedBy.DEADLINE:
        how = "no thread of the process runs any more, not even the one that watches the others"
        return Problem(contract, how, "every call to be answered", how, stacks=result.stacks)
    return None


# --- iterations ----------------------------------------------------------------------------------


def iterate(bench: CallerBench, by: By, record: SceneRecord) -> bool:
    """Make calls between two items of a listing. Return whether one hung."""
    scene: dict[str, Any] = {"scene": "iteration", "by": by.value}
    operations = bench.plan.facts["operations"][bench.plan.api]
    with bench.store() as store:
        result = bench.played(
            iteration.call_between, store | {"by": by.value, "operations": list(operations)}
        )
    record.scenes["iteration"] += 1
    end = died(ITERATION, result)
    if end is not None:
        record.saw([end], scene)
        return True
    seen = seen_in(result, record, ITERATION)
    if seen is None:
        return False
    record.tally.operations += len(seen["calls"])
    record.tally.agreed(ITERATION, len(seen["calls"]))
    wrong = list(_wrong_in_iteration(seen, by))
    if not wrong and by is not By.LEFT:
        wrong = list(_wrong_in_what_was_listed(seen, by))
        scene |= {"shifted": True}
    record.saw(wrong, scene | {"calls": _to_blame(seen)})
    return seen["standstill"] is not None


def _wrong_in_iteration(seen: Mapping[str, Any], by: By) -> Iterator[Problem]:
    steps = _steps_of(seen)
    expected = f"between two items of list, {by.value} may call any operation"
    still = seen["standstill"]
    if still is not None and still["hung"]:
        what = seen["operation"]
        observed = f"{what}, called by {by.value}: no answer for {still['seconds']:g} s"
        if seen["released"]:
            observed += "; it was answered as soon as the listing had been closed"
        stood = f"the listing, between two items:\n{seen['listing']}\n" if seen["listing"] else ""
        yield Problem(
            ITERATION,
            f"{what} is not answered while list is between two items",
            expected,
            observed,
            steps=(*steps, f"{what}  -> no answer"),
            stacks=stood + still["stacks"],
        )
        return
    for number, (what, error) in enumerate(seen["calls"]):
        if error is not None:
            yield Problem(
                ITERATION,
                f"{what} raised {error}, with list between two items",
                expected,
                f"{what}: raised {error}",
                steps=tuple(steps[: number + 2]),
            )


def _steps_of(seen: Mapping[str, Any]) -> list[str]:
    """Return what was called, and how each call ended."""
    return [
        "list of thread 'a', its first item taken",
        *(
            f"{what}  -> {'raised ' + error if error else 'returned'}"
            for what, error in seen["calls"]
        ),
    ]


def _wrong_in_what_was_listed(seen: Mapping[str, Any], by: By) -> Iterator[Problem]:
    """Yield each checkpoint that was there before the listing, was not deleted, and was not listed
    exactly once.
    """
    times = [seen["listed"].count(known) for known in seen["there"]]
    if all(count == 1 for count in times):
        return
    left_out, again = times.count(0), sum(count > 1 for count in times)
    yield Problem(
        ITERATION,
        f"list leaves out checkpoints, or gives them twice, when {by.value} puts between its items",
        f"each of the {len(times)} checkpoints that were there before, once",
        f"{left_out} of them left out, {again} given more than once",
        steps=tuple(_steps_of(seen)),
    )


_NEXT = "the next item"


def _to_blame(seen: Mapping[str, Any]) -> list[str]:
    """Return the calls to blame for the first breach: the one call that failed, or all calls before
    the item that did.
    """
    made: list[str] = []
    for what, error in seen["calls"]:
        if error is not None:
            return made if what == _NEXT else [what]
        made += [what] if what != _NEXT else []
    return [seen["operation"]]


def seen_in(result: TrialResult, record: SceneRecord, contract: str) -> Mapping[str, Any] | None:
    """Return what was seen in a scene. If the scene could not be played, return None, and record
    why.
    """
    if result.died_by is not DiedBy.FINISHED:
        record.tally.unknown[contract] = f"{result.ending()} {result.stacks}".strip()[:1_000]
        return None
    seen: Mapping[str, Any] = result.value
    if seen.get("trouble"):
        record.tally.unknown[contract] = seen["trouble"]
    else:
        _note_slow(seen["standstill"], record, contract)
    return seen


def _note_slow(still: Mapping[str, Any] | None, record: SceneRecord, contract: str) -> None:
    if still is not None and not still["hung"]:
        record.tally.unknown[contract] = f"cut off: not over after {still['seconds']:g} s"


# --- reads of what is not there ------------------------------------------------------------------


def ask(bench: CallerBench, record: SceneRecord) -> None:
    """Read what does not exist, and look for traces of the reads."""
    with bench.store() as store:
        result = bench.played(
            read_side_effects.ask, store | {"durable": bench.plan.facts["durable"]}
        )
    record.scenes["unknown reads"] += 1
    seen = seen_in(result, record, NOTHING)
    if seen is None or NOTHING in record.tally.unknown:
        return
    if seen["standstill"] is not None:
        record.tally.unknown[NOTHING] = (
            f"no answer to a read of something unknown\n{seen['standstill']}"
        )
        return
    if seen["traces"]:
        traces = "; ".join(seen["traces"])
        problem = Problem(
            NOTHING,
            f"reads of something unknown leave a trace: {seen['traces'][0]}",
            "nothing in the store to change",
            f"after {seen['read']} reads of unknown threads, namespaces and ids: {traces}",
            steps=(
                "get_tuple of unknown threads, namespaces and ids",
                "list of unknown threads and namespaces",
            ),
        )
        record.saw([problem], {"scene": "unknown reads"})
    elif not seen["looked"]:
        record.tally.unknown[NOTHING] = (
            "the store is not in files of its workspace: another saver lists nothing new, but what "
            "no saver shows cannot be seen"
        )
        return
    record.tally.agreed(NOTHING, seen["read"])


# --- races for a new store -----------------------------------------------------------------------


def race(
    bench: CallerBench, number: int, record: SceneRecord, file: Path | None = None
) -> Path | None:
    """Let several processes create one store, side by side.

    Return the store's SQLite file, relative to its folder, if the processes met while they created
    it and no lock kept them apart. If ``file`` is given, one more process holds the lock of that
    file for a moment when the others come. Without it they rarely meet, since each holds the lock
    only briefly.
    """
    callers = [
        [
            Operation(OperationKind.PUT, 0, 10 + n, tag=(n + 1) * 1_000),
            Operation(OperationKind.WRITES, 0, 10 + n, (n + 1) * 1_000 + 1, 100 + n, 2),
            Operation(OperationKind.GET, 0, 10 + n),
        ]
        for n in range(RACERS)
    ]
    scene = {"scene": "race", "number": number, "file": None if file is None else str(file)}
    meeting = bench.folder / f"meeting-{number}"
    Meeting.prepare(meeting, RACERS)
    with bench.store() as store, ExitStack() as stack:
        folder = Path(store["path"])
        shared = store | {
            "schedule": encode(Schedule("")),
            "callers": [encode(made) for made in callers],
            "meeting": str(meeting),
            "racers": RACERS,
            "side_by_side": file is None,
        }
        if file is not None:
            stack.enter_context(held(folder / file, meeting, RACERS))
        results = bench.together(firstuse.race, [shared | {"caller": n} for n in range(RACERS)])
        after = [encode(Operation(OperationKind.GET, 0, 10 + n)) for n in range(RACERS)]
        last = bench.looked(child.end, shared | {"after": after})
        files = [path.relative_to(folder) for path in sqlite_files(folder)]
    meeting.unlink()
    record.scenes["races for a new store"] += 1
    # A saver without history need not have the checkpoints before the newest.
    keeps_all = Capability.HISTORY in bench.plan.facts["capabilities"]
    lasting = range(10 if keeps_all else 10 + RACERS - 1, 10 + RACERS)
    problems = _judged_race(results, last, record, lasting, one_more=file is not None)
    record.saw(problems, scene)
    met = any(one.died_by is DiedBy.FINISHED and one.value["met"] for one in results)
    return files[0] if files and met else None


def _judged_race(
    results: Iterable[TrialResult],
    last: View,
    record: SceneRecord,
    lasting: Container[int],
    *,
    one_more: bool,
) -> list[Problem]:
    """Return what is wrong after a race: how its processes ended, and which of the ``lasting``
    checkpoints are missing.
    """
    problems: list[Problem] = []
    events: list[TimedCall] = []
    for result in results:
        end = died(FIRST, result)
        if end is not None:
            problems.append(end)
        elif result.died_by is not DiedBy.FINISHED:
            record.tally.unknown[FIRST] = f"{result.ending()} {result.stacks}".strip()[:1_000]
        else:
            record.tally.agreed(FIRST, 1)
            _note_slow(result.value["standstill"], record, FIRST)
            problems += _wrong_in_race(result.value, one_more=one_more)
            events += [decode(TimedCall, event) for event in result.value["events"]]
    record.tally.operations += len(events)
    if last.died_by is DiedBy.FINISHED and not last.value["trouble"]:
        after = [decode(TimedCall, event) for event in last.value["events"]]
        kept = [event for event in events if event.operation.number in lasting]
        problems += _lost_in_race(kept, after)
    else:
        record.tally.unknown[PROCESSES] = "what a race left could not be read"
    return problems


def _wrong_in_race(seen: Mapping[str, Any], *, one_more: bool) -> Iterator[Problem]:
    expected = "every process to open the store, and to write to it"
    also = ", which one more holds for a moment" if one_more else ""
    racing = f"{RACERS} processes at once on a new store{also}"
    steps = (f"{racing}: each opens it and puts a checkpoint",)
    still = seen["standstill"]
    if still is not None and still["hung"]:
        observed = f"no answer for {still['seconds']:g} s"
        summary = "a process that creates the store while others do is never answered"
        yield Problem(FIRST, summary, expected, observed, steps=steps, stacks=still["stacks"])
    errors = [] if seen["opening"] is None else [seen["opening"]]
    for data in seen["events"]:
        event = decode(TimedCall, data)
        if event.error is not None:
            errors.append(f"{event.operation.kind.value} raised {event.error}")
    if errors:
        summary = f"{racing}: {errors[0]}"
        yield Problem(FIRST, summary, expected, "; ".join(errors), steps=steps)


def _lost_in_race(events: list[TimedCall], after: list[TimedCall]) -> Iterator[Problem]:
    there = {event.operation.number for event in after if event.shown}
    answered = {event.operation.number for event in after if event.returned}
    for event in events:
        made = event.operation
        lost = made.number in answered - there
        if made.kind is OperationKind.PUT and event.returned and lost:
            yield Problem(
                PROCESSES,
                "an acknowledged put is gone after several processes created the store",
                "every operation that returned to have taken effect once",
                f"{made.describe()}: gone",
                (event,),
            )
