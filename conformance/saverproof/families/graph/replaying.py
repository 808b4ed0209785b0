"""Plays a recorded program again: an artefact's "program" as a finding gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saverproof.families.graph.bench import GraphBench, Play
from saverproof.families.graph.comparing import GraphDifference
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.scenarios import GRAPHS, GraphScenario
from saverproof.families.graph.steps import from_json
from saverproof.items import ItemPlan
from saverproof.targets.event_loop import loop_for
from saverproof.targets.target import Target

_KEYS = ("contract", "scenario", "graph", "durability", "steps")


def read(data: object) -> Play:
    """The play of a finding's ``program``.

    Raises:
        ValueError: the data is no such program; the one line says what was found and expected.
    """
    if not isinstance(data, Mapping) or any(key not in data for key in _KEYS):
        raise ValueError(f"found {data!r:.60}, expected an object with {', '.join(_KEYS)}")
    for key, known in (("graph", GRAPHS), ("durability", durability_modes())):
        if data[key] not in known:
            raise ValueError(f"{key}: found {data[key]!r:.60}, expected one of {', '.join(known)}")
    program = from_json(data["steps"])
    scenario = GraphScenario(str(data["scenario"]), str(data["contract"]), data["graph"], program)
    return Play(scenario, data["durability"])


def replay(plan: ItemPlan, target: Target, data: Any) -> GraphDifference | None:
    """Where the saver still breaks the recorded contract; None if it does no more.

    Raises:
        ValueError: the data is no recorded program.
        OpeningError: the saver could not be opened or closed.
    """
    play = read(data)
    with loop_for(plan.api) as loop:
        return GraphBench(target, plan, loop).alone(play).differences.get(play.scenario.contract)
