"""Fills in a script in which a graph goes on while someone calls an operation on whole threads."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.graphs.graph_differences import COPY, GRAPH
from saverproof.families.concurrency.graphs.graph_scenes import SCENES
from saverproof.families.concurrency.graphs.graph_upkeep import FIRST_OF_NEW, scenario
from saverproof.families.concurrency.held.holding import AWAIT, HoldPoint
from saverproof.families.graph.scenarios import maker
from saverproof.families.graph.scripts import imports_of
from saverproof.families.graph.steps import Answer, GraphStep, Invoke
from saverproof.programs.steps.codec import decode
from saverproof.scripts.source import literal

_CALLS: Mapping[OperationKind, tuple[str, str]] = {
    OperationKind.PRUNE: ("prune", 'prune([thread], strategy="keep_latest")'),
    OperationKind.COPY: ("take_copy", "copy_thread(thread, target)"),
    OperationKind.DELETE: ("delete", 'delete_thread("another")'),
    OperationKind.DELETE_RUN: ("delete", 'delete_for_runs(["old"])'),
}
"""How a script calls each operation."""


def graph_words(scene: Mapping[str, Any], api: str) -> dict[str, Any]:
    """Return the words of a script for the graph, its input, and the place where a call is held; {}
    if a script cannot show it.
    """
    upkeep, known = SCENES[scene["scene"]], scenario(scene["name"])
    inputs = [_input(step) for step in known.program]
    differs = scene.get("differs", GRAPH)
    if "place" not in scene or differs not in (GRAPH, COPY) or not all(inputs):
        return {}
    place, make = decode(HoldPoint, scene["place"]), maker(known.graph, api)
    # A node on the event loop's own thread cannot wait until the call is held.
    inside = scene["inside"] and api == "sync"
    does, call = _CALLS[upkeep.kind]
    return {
        "graph": inspect.getsource(make),
        "make": make.__name__,
        "inputs": ", ".join(inputs),
        "does": does,
        "call": call,
        "first": upkeep.steps(known, inside=inside).start,
        "target": ', f"{thread}-{len(seen)}"' if upkeep.kind is OperationKind.COPY else "",
        "old": FIRST_OF_NEW if upkeep.kind is OperationKind.DELETE_RUN else 0,
        "other": inputs[0] if upkeep.kind is OperationKind.DELETE else "",
        "torn": differs == COPY,
        "inside": inside,
        "awaits": place.file == AWAIT,
        "elsewhere": upkeep.elsewhere,
        "file": os.path.basename(place.file),
        "line": place.line,
        "time": place.time,
    }


def graph_imports(scene: Mapping[str, Any], api: str) -> list[str]:
    """Return the imports that the script of a graph needs."""
    more = ["import contextvars", "import itertools", "import json", "import types"]
    return [*more, *imports_of(maker(scenario(scene["name"]).graph, api))]


def _input(step: GraphStep) -> str:
    """Return the input with which a step invokes the graph; "" if the step does something else."""
    match step:
        case Invoke(given=given, at=None):
            return literal(given)
        case Answer(answer=answer, update=None, at=None):
            return f"Command(resume={literal(answer)})"
    return ""
