"""Plays graphs while someone calls operations on whole threads, and judges how the graphs end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from inspect import getdoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.meeting import Meeting
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.contract_ids import PROCESSES, THREADS
from saverproof.families.concurrency.graphs import calls_elsewhere, tidied_graphs
from saverproof.families.concurrency.graphs.graph_differences import (
    COPY,
    GRAPH,
    RESUMED,
    PlayDifference,
)
from saverproof.families.concurrency.graphs.graph_upkeep import (
    DELTA,
    UPKEEP_OF_GRAPHS,
    GraphUpkeep,
    scenario,
)
from saverproof.families.concurrency.held.holding import HoldPoint
from saverproof.families.concurrency.histories.history_playing import PATIENCE_S, Sharing
from saverproof.families.concurrency.histories.sequential_flaws import SequentialFlaws
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes.scene_judging import died
from saverproof.families.graph.describing import describe
from saverproof.families.graph.runner import MEANING
from saverproof.families.graph.scenarios import maker
from saverproof.families.graph.steps import Invoke
from saverproof.programs import small
from saverproof.programs.directed import removals
from saverproof.programs.steps.codec import decode
from saverproof.programs.steps.definitions import (
    CopyThread,
    DeleteForRuns,
    DeleteThread,
    GetTuple,
    ListTuples,
    Program,
    Step,
)
from saverproof.programs.values import Value
from saverproof_faults.kill import DiedBy, TrialResult

SCENES: Mapping[str, GraphUpkeep] = {
    one.scene: one for own in UPKEEP_OF_GRAPHS.values() for one in (own, own.by_another())
}
"""The operation that is called in each scene of graphs."""
_CHILD = "child:1"
_START = "__start__"
"""The channel of the input, which the checkpoint after the input does not have."""


def _waiting(thread: str, run: str, first: int) -> Program:
    """Return what a graph that waits for an answer stores, in itself and in a subgraph."""
    second, inside, waits = first + 1, first + 10, first + 11
    asked = (("__interrupt__", 1), ("__resume__", 2))
    return (
        small.checkpoint(thread, first, run=run, also={_START: Value("list", 1)}),
        small.checkpoint(thread, second, first, run=run, also={_START: None}),
        small.checkpoint(
            thread,
            inside,
            namespace=_CHILD,
            run=run,
            started_by=second,
            also={_START: Value("list", 2)},
        ),
        small.checkpoint(
            thread, waits, inside, _CHILD, run=run, started_by=second, also={_START: None}
        ),
        small.batch(thread, second, 1, 0, *asked),
        small.batch(thread, waits, 2, 0, *asked, namespace=_CHILD),
    )


def _alone(operation: Step, shown: str, *more: Step) -> Program:
    """Return a program that calls the operation when nothing else runs, and then looks at the
    result.
    """
    looks = (ListTuples(shown, ""), ListTuples(shown, _CHILD))
    return (*_waiting("a", "run-1", 1), *more, operation, *looks)


_ALONE: Mapping[OperationKind, Program] = {
    OperationKind.PRUNE: _alone(small.PRUNE, "a"),
    OperationKind.COPY: (
        *_alone(CopyThread("a", "c"), "c"),
        GetTuple("c", ""),
        GetTuple("c", _CHILD),
        ListTuples("a", ""),
        ListTuples("a", _CHILD),
    ),
    OperationKind.DELETE: _alone(DeleteThread("b"), "a", *_waiting("b", "run-2", 3)),
    OperationKind.DELETE_RUN: _alone(DeleteForRuns(("run-2",)), "a", *_waiting("a", "run-2", 3)),
}
_DELTA_ALONE, *_ = removals.DELTAS
"""A prune of a thread with delta channels."""


def beside_graphs(
    bench: CallerBench,
    record: SceneRecord,
    flaws: SequentialFlaws,
    upkeep: GraphUpkeep,
    most: int,
    names: Collection[str] = (),
) -> bool:
    """Play graphs while an operation is held at up to ``most`` of its places.

    Return whether, in some play, a graph went on meanwhile, and ended as it does without the
    operation.
    """
    capabilities = bench.plan.facts["capabilities"]
    wanted = names or upkeep.names
    playable = [name for name in wanted if scenario(name).objection(capabilities) is None]
    if not playable:
        return False
    arguments = {"scenarios": playable, "most": most, "kind": upkeep.kind.value}
    results = _played(bench, upkeep, arguments)
    record.scenes[upkeep.scene] += 1
    scene = {"scene": upkeep.scene, "name": playable[0]}
    for result in results:
        end = died(_loss(upkeep), result)
        if end is not None:
            record.saw([end], scene)
            return False
    for result in results:
        if result.died_by is not DiedBy.FINISHED:
            record.tally.note(f"{upkeep.scene}: {result.ending()} {result.stacks}".strip()[:300])
            return False
    return _judged(bench, record, flaws, upkeep, _seen(results), scene)


def _loss(upkeep: GraphUpkeep) -> str:
    """Return the contract that a saver breaks if a caller is never answered."""
    return PROCESSES if upkeep.elsewhere else THREADS


def _played(
    bench: CallerBench, upkeep: GraphUpkeep, arguments: Mapping[str, Any]
) -> list[TrialResult]:
    """Return the results of the process in which the graphs ran, and of the process that called the
    operation, if that was another one.
    """
    with bench.store() as store:
        if not upkeep.elsewhere:
            return [bench.played(tidied_graphs.play, {**store, **arguments})]
        with TemporaryDirectory(dir=bench.folder) as folder:
            meeting = Path(folder, "meeting")
            Meeting.prepare(meeting, 2)
            both = {**store, **arguments, "meeting": str(meeting)}
            both["patience_s"] = PATIENCE_S[Sharing.PROCESSES]
            return bench.writers([(tidied_graphs.play, both), (calls_elsewhere.make_calls, both)])


def _seen(results: Sequence[TrialResult]) -> dict[str, Any]:
    """Join the results of both processes."""
    seen: dict[str, Any] = dict(results[0].value)
    for result in results[1:]:
        other = result.value
        # If it could not go on, the graphs were not played to their end either.
        seen["trouble"] = other["trouble"] or seen["trouble"]
        stills = [one for one in (seen["standstill"], other["standstill"]) if one is not None]
        hung = [one for one in stills if one["hung"]] or stills
        stacks = "\n".join(one["stacks"] for one in hung)
        seen["standstill"] = hung[0] | {"stacks": stacks} if hung else None
    if len(results) > 1 and seen["standstill"] is not None:
        # The process that is not over no longer answers the other one, which calls that trouble.
        seen["trouble"] = None
    return seen


def _judged(
    bench: CallerBench,
    record: SceneRecord,
    flaws: SequentialFlaws,
    upkeep: GraphUpkeep,
    seen: Mapping[str, Any],
    scene: dict[str, Any],
) -> bool:
    tally, still = record.tally, seen["standstill"]
    record.raised.update(seen["raised"])
    # Nothing was compared after the call that was refused, so this is no pass.
    refused = [one["refused"] for one in seen["plays"] if one["refused"] is not None]
    compared = [one for one in seen["plays"] if one["overtaken"] and one["refused"] is None]
    right = [one for one in compared if one["difference"] is None]
    tally.agreed(upkeep.contract, len(right))
    played_out = still is None and not seen["trouble"]
    if upkeep.elsewhere and played_out and not any(one["overtaken"] for one in seen["plays"]):
        tally.note(f"{upkeep.scene}: held at no place did a step of a graph overtake it")
    if refused:
        record.refused.add(upkeep.contract)
        plays = f"{len(refused)} of {len(seen['plays'])} plays"
        tally.note(
            f"{upkeep.scene}: {plays} were refused a call, and say no more: {refused[0]}"[:300]
        )
    for one in seen["plays"]:
        if one["difference"] is None:
            continue
        problem = _problem(upkeep, one, bench.plan.api)
        if not seen["steady"]:
            # The operation need not be the cause, and is not known to be harmless either.
            why = f"the graph of {one['scenario']!r} comes out otherwise by itself"
            tally.unsure([upkeep.contract], why)
        elif seen["at_rest"] is not None:
            alone = _DELTA_ALONE if one["scenario"] == DELTA else _ALONE[upkeep.kind]
            record.saw_alone([problem], flaws.look_into_program(alone))
        else:
            told = {"name": one["scenario"], "inside": one["inside"], "place": one["place"]}
            told["differs"] = decode(PlayDifference, one["difference"]).of
            record.saw([problem], scene | told)
    if still is not None and still["hung"]:
        how = f"no answer for {still['seconds']:g} s"
        expected = f"the graph to go on, and the {upkeep.doing} to be answered"
        summary = f"a graph hangs beside a {upkeep.doing}"
        hung = Problem(_loss(upkeep), summary, expected, how, stacks=still["stacks"])
        record.saw([hung], scene)
    elif seen["trouble"] or still is not None:
        why = seen["trouble"] or f"not over after {still['seconds']:g} s"
        tally.note(f"{upkeep.scene}: {why}"[:300])
    return bool(right)


def _problem(upkeep: GraphUpkeep, play: Mapping[str, Any], api: str) -> Problem:
    found = decode(PlayDifference, play["difference"])
    expected = found.expected
    if found.of == COPY:
        summary = "a copy is of no moment, with whose thread a graph goes on meanwhile"
    else:
        beside = f"a graph beside a {upkeep.doing}"
        who = beside if found.of == GRAPH else "a graph that goes on with a copy"
        what = MEANING[found.kind]
        summary = f"{who} comes out otherwise: {what}"
        at = found.path and f", at {found.path}"
        how = f"without the {upkeep.doing}"
        if found.of == RESUMED:
            how = "with a thread that shows the same, stored call by call"
        expected = f"as {how}, {what}{at}: {expected}"
    steps = tuple(_steps(upkeep, play, found, api))
    return Problem(upkeep.contract, summary, expected, found.observed, steps=steps)


def _steps(
    upkeep: GraphUpkeep, play: Mapping[str, Any], found: PlayDifference, api: str
) -> Iterator[str]:
    known = scenario(play["scenario"])
    place = decode(HoldPoint, play["place"])
    yield f"graph {known.graph!r}: {getdoc(maker(known.graph, api))}"
    begins = "its first node begins" if play["inside"] else "it begins"
    steps = upkeep.steps(known, inside=play["inside"])
    each = "the last step" if len(steps) == 1 else "each step"
    yield f"beside {each} a {upkeep.doing}: called as {begins}, held {place.describe()}"
    own = found.position if found.copied is None else found.copied
    for number, step in enumerate(known.program[: own + 1]):
        run = upkeep.run_of(number)
        yield describe(step) + (f", in {run}" if run else "")
    if found.copied is not None:
        for step in (Invoke(None), *known.program[own + 1 : found.position + 1]):
            yield f"with the copy of the last step: {describe(step)}"
