"""Writes standalone scripts that show a difference between a saver and InMemorySaver on a graph."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable

from saverproof.families.graph.bench import Play
from saverproof.families.graph.comparing import GraphDifference
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.rendering import Body
from saverproof.families.graph.runner import NODES, Observation, ends_in_error
from saverproof.families.graph.scenarios import maker
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.script import complaint, main, promise_of
from saverproof.scripts.script import script as whole_script
from saverproof.scripts.verification import complains_here

_MEMORY = Opening("nullcontext(InMemorySaver())")
_NOTES = """
class Notes(list):  # the nodes that were executed
    def __call__(self, name):
        self.append(name)
        return self.count(name)
"""
_MASKED = """
def masked(value):  # without the ids of tasks, checkpoints and interrupts
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}", "<id>", repr(value))
"""
_PLAIN = """
def plain(s):
    tasks = [(t.name, str(t.error), t.interrupts, t.result, inside(t.state)) for t in s.tasks]
    metadata = s.metadata or {}
    return s.values, s.next, metadata.get("source"), metadata.get("step"), tasks


def inside(state):
    return plain(state) if isinstance(state, StateSnapshot) else None
"""


def reproducer(
    target: Target,
    play: Play,
    difference: GraphDifference,
    expected: list[Observation],
    api: str,
) -> str:
    """Return the source of a script that shows the difference, or "" if none does.

    The script was run twice: it complained about the target, and not about InMemorySaver.
    """
    opening = opening_of(target)
    if opening is None:
        return ""
    text = script(play, difference, expected, api, opening, target.name)
    control = script(play, difference, expected, api, _MEMORY, "memory")
    return text if complains_here(text) and not complains_here(control) else ""


def script(
    play: Play,
    difference: GraphDifference,
    expected: list[Observation],
    api: str,
    opening: Opening,
    name: str,
) -> str:
    """Return the source of a script that compares a run with what is expected."""
    make = maker(play.scenario.graph, api)
    graph = inspect.getsource(make)
    gate, counts = "note.gate" in graph, re.search(r"(if|return) note\(", graph)
    notes = bool(gate or counts or difference.kind == NODES)
    body = Body(api, durability_modes()[play.mode], _failing(expected), gate)
    run = [
        *(["note = Notes()"] if notes else []),
        *(["note.gate = threading.Event()"] if gate else []),
        f"graph = {make.__name__}({'note' if notes else 'lambda name: None'}, saver)",
        *body.lines(play.scenario.program, difference.kind, "'parent'" in difference.path),
    ]
    function, wait = ("async def", "await ") if api == "async" else ("def", "")
    lines = [
        *(_NOTES.splitlines() if notes else []),
        *(_PLAIN.splitlines() if any("plain(" in line for line in run) else []),
        *graph.splitlines(),
        f"{function} run(saver):",
        *indented(run),
        *_MASKED.splitlines(),
        f"{function} outcome(saver):",
        "    try:",
        f"        return masked({wait}run(saver))",
        "    except Exception as error:",
        '        return masked(f"raised {error!r}")',
        *_main(CallSource(api, opening.managed), opening),
    ]
    promise = promise_of(difference.contract)
    return whole_script(promise, name, opening, lines, imports_of(make))


def imports_of(make: Callable[..., object]) -> list[str]:
    """Return the import statements of the module that defines a graph's function."""
    tree = ast.parse(inspect.getsource(importlib.import_module(make.__module__)))
    return [ast.unparse(one) for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]


def _failing(expected: list[Observation]) -> set[int]:
    """Return the positions of the steps whose expected result is an exception."""
    return {seen.position for seen in expected if ends_in_error(seen)}


def _main(calls: CallSource, opening: Opening) -> list[str]:
    asked = calls.function("outcome", "saver")
    lines = [
        *opening.in_folder(opening.opened([f"observed = {asked}"])),
        f"expected = {calls.function('outcome', 'InMemorySaver()')}",
        "if observed != expected:",
        f"    {complaint('{expected:.1000}', '{observed:.1000}')}",
    ]
    return main(lines, coroutine=calls.in_coroutine)
