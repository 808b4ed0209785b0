"""Plays the recorded program of a graph again, from the "program" of an artefact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langsmith.run_helpers import tracing_context

from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.graph.bench import GraphBench, Play
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.runner import MEANING
from saverproof.families.graph.scenarios import GRAPHS, GraphScenario
from saverproof.families.graph.steps import from_json
from saverproof.families.items import ItemPlan
from saverproof.programs.values import show
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.target import Target

WIDTH = 1_200
"""How many characters of a value an answer shows."""
_KEYS = ("contract", "scenario", "graph", "durability", "steps")


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Return whether a recorded graph still differs from its run on InMemorySaver.

    Raises:
        ValueError: the data is no recorded program; one line says what was found and expected.
        OpeningError: the saver could not be opened or closed.
    """
    play = _read(data)
    with tracing_context(enabled=False), loop_for(plan.api) as loop:
        differences = GraphBench(target, plan, loop).alone(play).differences
    difference = differences.get(play.scenario.contract)
    if difference is None:
        return ReplayAnswer(Status.FIXED, "the graph does what it does on InMemorySaver")
    expected, observed = (show(it, WIDTH) for it in (difference.expected, difference.observed))
    return ReplayAnswer(Status.FAILING, MEANING[difference.kind], expected, observed)


def _read(data: object) -> Play:
    """Return the play of a finding's ``program``."""
    if not isinstance(data, Mapping) or any(key not in data for key in _KEYS):
        raise ValueError(f"found {data!r:.60}, expected an object with {', '.join(_KEYS)}")
    for key, known in (("graph", GRAPHS), ("durability", durability_modes())):
        if data[key] not in known:
            raise ValueError(f"{key}: found {data[key]!r:.60}, expected one of {', '.join(known)}")
    program = from_json(data["steps"])
    scenario = GraphScenario(str(data["scenario"]), str(data["contract"]), data["graph"], program)
    return Play(scenario, data["durability"])
