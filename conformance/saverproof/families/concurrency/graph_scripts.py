"""What a script can say of a graph that goes on while its thread is pruned."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

from saverproof.families.concurrency.graph_scenes import SCENES
from saverproof.families.concurrency.graph_upkeep import scenario
from saverproof.families.concurrency.holding import AWAIT, Place
from saverproof.families.concurrency.records import CallKind
from saverproof.families.graph.scenarios import maker
from saverproof.families.graph.scripts import imports_of
from saverproof.families.graph.steps import Answer, GraphStep, Invoke
from saverproof.programs.steps.codec import decode
from saverproof.scripts.source import literal


def graph_words(scene: Mapping[str, Any], api: str) -> dict[str, Any]:
    """The graph, what it is given, and where the prune is held; {} for what a script cannot say."""
    if SCENES[scene["scene"]].kind is not CallKind.PRUNE:
        return {}
    known = scenario(scene["name"])
    inputs = [_input(step) for step in known.program]
    if "place" not in scene or not all(inputs):
        return {}
    place, make = decode(Place, scene["place"]), maker(known.graph, api)
    return {
        "graph": inspect.getsource(make),
        "make": make.__name__,
        "inputs": ", ".join(inputs),
        # A node on the event loop's own thread cannot wait until the prune is held.
        "inside": scene["inside"] and api == "sync",
        "awaits": place.file == AWAIT,
        "file": os.path.basename(place.file),
        "line": place.line,
        "time": place.time,
    }


def graph_imports(scene: Mapping[str, Any], api: str) -> list[str]:
    """The imports that the graph needs."""
    return ["import types", *imports_of(maker(scenario(scene["name"]).graph, api))]


def _input(step: GraphStep) -> str:
    """What the graph is invoked with; "" for other steps."""
    match step:
        case Invoke(given=given, at=None):
            return literal(given)
        case Answer(answer=answer, update=None, at=None):
            return f"Command(resume={literal(answer)})"
    return ""
