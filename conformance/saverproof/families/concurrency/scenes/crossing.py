"""Judges calls that are about the same two threads, made at once and in opposite orders.

A saver with a lock for each thread has to take two of them. If each caller takes first the one that
it was told first, both wait for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from saverproof.capability import Capability
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import (
    FIRST_OF_ROUNDS,
    PLACES,
    Operation,
    OperationKind,
    copy_of,
)
from saverproof.families.concurrency.callers.workload import TAGS_EACH
from saverproof.families.concurrency.contract_ids import THREADS
from saverproof.families.concurrency.histories.history_playing import PATIENCE_S, Sharing
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes import crossing_calls
from saverproof.families.concurrency.scenes.scene_judging import died, seen_in
from saverproof.programs.steps.codec import encode

SCENE = "crossing calls"
_PLACES = (FIRST_OF_ROUNDS, copy_of(FIRST_OF_ROUNDS))
_A, _B = (PLACES[place][0] for place in _PLACES)
_RUNS = ("the first run", "the second run")
_BEFORE = tuple(
    Operation(OperationKind.PUT, place, number, tag=TAGS_EACH + 2 * at + number, run=run)
    for at, (place, run) in enumerate(zip(_PLACES, _RUNS, strict=True))
    for number in (1, 2)
)
Call = tuple[Any, ...]
"""A method's name and its arguments."""
PAIRS: Mapping[str, tuple[Capability, Call, Call]] = {
    "a copy of a thread to another one, and a copy back": (
        Capability.COPY_THREAD,
        ("copy_thread", _A, _B),
        ("copy_thread", _B, _A),
    ),
    "prunes of two threads, named in both orders": (
        Capability.PRUNE,
        ("prune", [_A, _B]),
        ("prune", [_B, _A]),
    ),
    "deletions of two runs, named in both orders": (
        Capability.DELETE_FOR_RUNS,
        ("delete_for_runs", [*_RUNS]),
        ("delete_for_runs", [*reversed(_RUNS)]),
    ),
}
"""Two calls of each kind, by what they are in words. What they leave behind is judged elsewhere."""


def cross(bench: CallerBench, able: Collection[str], record: SceneRecord) -> None:
    """Make each pair of calls at once. Calls that are never answered break a contract."""
    tally = record.tally
    pairs = [(name, calls) for name, (needed, *calls) in PAIRS.items() if needed in able]
    if not pairs or THREADS not in tally.wanted:
        return
    arguments = {"before": encode(_BEFORE), "pairs": pairs}
    arguments["patience_s"] = PATIENCE_S[Sharing.SHARED]
    with bench.store() as store:
        result = bench.played(crossing_calls.cross, {**store, **arguments})
    record.scenes["calls that cross"] += 1
    if end := died(THREADS, result):
        record.saw([end], {"scene": SCENE})
        return
    seen = seen_in(result, record, THREADS)
    if seen is None or THREADS in tally.unknown:
        return
    tally.operations += seen["made"]
    record.raised.update(seen["raised"])
    if (still := seen["standstill"]) is None:
        tally.agreed(THREADS, seen["made"] - len(seen["raised"]))
        return
    how = f"no answer for {still['seconds']:g} s"
    if not seen["pair"]:
        tally.unknown[THREADS] = f"calls that cross: one caller alone: {how}\n{still['stacks']}"[
            :1_000
        ]
        return
    summary = f"{seen['pair']}, made at once, are never answered"
    hung = Problem(THREADS, summary, "every call to be answered", how, stacks=still["stacks"])
    record.saw([hung], {"scene": SCENE})
    record.hung.add(THREADS)
