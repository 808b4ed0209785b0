"""Plays graphs that wait and go on while their thread is pruned, and judges what came of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from inspect import getdoc
from typing import Any

from saverproof.families.concurrency import tidied_graphs
from saverproof.families.concurrency.bench import CallerBench
from saverproof.families.concurrency.contract_ids import PRUNE, THREADS
from saverproof.families.concurrency.holding import Place
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.scenes import died
from saverproof.families.concurrency.sequential_flaws import SequentialFlaws
from saverproof.families.graph.describing import describe
from saverproof.families.graph.runner import MEANING
from saverproof.families.graph.scenarios import maker, scenario
from saverproof.programs import small
from saverproof.programs.steps.codec import decode
from saverproof.programs.steps.definitions import ListTuples, Program
from saverproof.programs.values import Value
from saverproof_faults.kill import DiedBy

SCENE = "graphs beside a prune"
NAMES = (
    "three questions of one node",
    "a question inside",
    "questions side by side, answered one by one",
)
"""Scenarios in which graphs wait for someone, in the root and in a subgraph, and for several."""
_CHILD = "child:1"
_START = "__start__"
"""The channel of the input: the next checkpoint is without it."""
_WAITING: Program = (
    small.checkpoint("a", 1, also={_START: Value("list", 1)}),
    small.checkpoint("a", 2, 1, also={_START: None}),
    small.checkpoint("a", 11, None, _CHILD, also={_START: Value("list", 2)}),
    small.checkpoint("a", 12, 11, _CHILD, also={_START: None}),
    small.batch("a", 2, 1, 0, ("__interrupt__", 1), ("__resume__", 2)),
    small.batch("a", 12, 2, 0, ("__interrupt__", 1), ("__resume__", 2), namespace=_CHILD),
    small.PRUNE,
    ListTuples("a", ""),
    ListTuples("a", _CHILD),
)
"""What a graph stores that waits, in itself and in a subgraph, and what is left of it."""


def prune_beside_graphs(
    bench: CallerBench,
    record: SceneRecord,
    flaws: SequentialFlaws,
    most: int,
    names: Collection[str] = NAMES,
) -> bool:
    """Play graphs while a prune of their thread is held at up to ``most`` of its places; whether
    one of them went on meanwhile, and came out as it does alone.
    """
    capabilities = bench.plan.facts["capabilities"]
    playable = [name for name in names if scenario(name).objection(capabilities) is None]
    if not playable:
        return False
    with bench.store() as store:
        arguments = store | {"scenarios": playable, "most": most}
        result = bench.played(tidied_graphs.play, arguments)
    record.scenes["graphs whose thread is pruned meanwhile"] += 1
    scene = {"scene": SCENE, "name": playable[0]}
    end = died(THREADS, result)
    if end is not None:
        record.saw([end], scene)
        return False
    if result.died_by is not DiedBy.FINISHED:
        record.tally.note(f"{SCENE}: {result.ending()} {result.stacks}".strip()[:300])
        return False
    return _judged(bench, record, flaws, result.value, scene)


def _judged(
    bench: CallerBench,
    record: SceneRecord,
    flaws: SequentialFlaws,
    seen: Mapping[str, Any],
    scene: dict[str, Any],
) -> bool:
    tally, still = record.tally, seen["standstill"]
    record.raised.update(f"prune: {error}" for error in seen["raised"])
    right = [one for one in seen["plays"] if one["difference"] is None and one["overtaken"]]
    tally.agreed(PRUNE, len(right))
    for one in seen["plays"]:
        if one["difference"] is None:
            continue
        problem = _problem(one, bench.plan.api)
        if not seen["steady"]:
            # The prune need not be the cause, and is not known to be harmless either.
            tally.unsure([PRUNE], f"the graph of {one['scenario']!r} comes out otherwise by itself")
        elif seen["at_rest"] is not None:
            record.saw_alone([problem], flaws.look_into_program(_WAITING))
        else:
            told = {"name": one["scenario"], "inside": one["inside"], "place": one["place"]}
            record.saw([problem], scene | told)
    if still is not None and still["hung"]:
        how = f"no answer for {still['seconds']:g} s"
        expected = "the graph to go on, and the prune to be answered"
        summary = "a graph hangs while its thread is pruned"
        record.saw([Problem(THREADS, summary, expected, how, stacks=still["stacks"])], scene)
    elif seen["trouble"] or still is not None:
        why = seen["trouble"] or f"not over after {still['seconds']:g} s"
        tally.note(f"{SCENE}: {why}"[:300])
    return bool(right)


def _problem(play: Mapping[str, Any], api: str) -> Problem:
    position, kind, path, expected, observed = play["difference"]
    return Problem(
        PRUNE,
        f"a graph whose thread is pruned meanwhile comes out otherwise: {MEANING[kind]}",
        f"as without the prune, {MEANING[kind]}{path and f', at {path}'}: {expected}",
        observed,
        steps=tuple(_steps(play, position, api)),
    )


def _steps(play: Mapping[str, Any], position: int, api: str) -> Iterator[str]:
    known = scenario(play["scenario"])
    place = decode(Place, play["place"])
    yield f"graph {known.graph!r}: {getdoc(maker(known.graph, api))}"
    begins = "its first node begins" if play["inside"] else "it begins"
    yield f"beside each step a prune of the thread: called as {begins}, held {place.describe()}"
    for step in known.program[: position + 1]:
        yield describe(step)
