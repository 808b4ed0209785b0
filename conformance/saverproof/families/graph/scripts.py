"""Standalone scripts that show a difference between a saver and InMemorySaver on a graph."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterable

from saverproof.contracts.registry import contract
from saverproof.families.graph.comparing import GraphDifference
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.rendering import Body
from saverproof.families.graph.runner import NODES, RESULT, Observation
from saverproof.families.graph.scenarios import maker
from saverproof.families.graph.stage import Play
from saverproof.scripts.opening import Opening, opening_of, opens_asynchronously
from saverproof.scripts.source import folded
from saverproof.scripts.trying import complains_here
from saverproof.targets.target import Target

_MEMORY = Opening("nullcontext(InMemorySaver())", imports=("from contextlib import nullcontext",))
_OWN = """
import asyncio
import contextlib
import re
import tempfile
import threading
from contextlib import suppress
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, StateSnapshot, StateUpdate
"""
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
    """The source of a script that shows the difference, or "" if none can be made that does.

    It was run twice: on the target it complained, on InMemorySaver it did not.
    """
    opening = opening_of(target)
    if opening is None:
        return ""
    managed = opens_asynchronously(target)
    text = script(play, difference, expected, api, opening, target.name, managed=managed)
    control = script(play, difference, expected, api, _MEMORY, "memory", managed=False)
    return text if complains_here(text) and not complains_here(control) else ""


def script(
    play: Play,
    difference: GraphDifference,
    expected: list[Observation],
    api: str,
    opening: Opening,
    name: str,
    *,
    managed: bool,
) -> str:
    """The script. ``managed`` says that the saver is opened by an async context manager."""
    make = maker(play.scenario.graph, api)
    graph = inspect.getsource(make)
    gate, counts = "note.gate" in graph, re.search(r"(if|return) note\(", graph)
    notes = bool(gate or counts or difference.kind == NODES)
    body = Body(api, durability_modes()[play.mode], _failing(expected), gate)
    lines = body.lines(play.scenario.program, difference.kind, "'parent'" in difference.path)
    run = [
        *(["note = Notes()"] if notes else []),
        *(["note.gate = threading.Event()"] if gate else []),
        f"graph = {make.__name__}({'note' if notes else 'lambda name: None'}, saver)",
        *lines,
    ]
    function = "async def" if api == "async" else "def"
    wait = "await " if api == "async" else ""
    parts = [
        _NOTES.strip().splitlines() if notes else [],
        graph.rstrip().splitlines(),
        [f"{function} run(saver):", *_indented(run)],
        _MASKED.strip().splitlines(),
        [
            f"{function} outcome(saver):",
            "    try:",
            f"        return masked({wait}run(saver))",
            "    except Exception as error:",
            '        return masked(f"raised {error!r}")',
        ],
        _main(api, opening, managed),
    ]
    if any("plain(" in line for line in run):
        parts.insert(1, _PLAIN.strip().splitlines())
    code = "\n\n\n".join("\n".join(_folded(part)) for part in parts if part)
    head = [*_head(difference.contract, name), *_imports(code, make.__module__, opening)]
    return "\n".join(head) + "\n\n\n" + code + "\n"


def _failing(expected: list[Observation]) -> set[int]:
    """The steps whose result is an exception."""
    found = set()
    for seen in expected:
        last = seen.value[-1] if isinstance(seen.value, list) and seen.value else seen.value
        if seen.kind == RESULT and isinstance(last, dict) and set(last) == {"raised"}:
            found.add(seen.position)
    return found


def _main(api: str, opening: Opening, managed: bool) -> list[str]:
    end = [
        "if observed != expected:",
        '    message = f"{__doc__}\\nexpected: {expected:.1000}\\nobserved: {observed:.1000}"',
        "    raise SystemExit(message)",
    ]
    folder = "with tempfile.TemporaryDirectory() as path, contextlib.ExitStack() as cleanup:"
    dropping = [f"    cleanup.callback(lambda: {opening.drop.format('path')})"]
    if not opening.drop:
        folder, dropping = "with tempfile.TemporaryDirectory() as path:", []
    opened = f"{'async with' if managed else 'with'} {opening.expression} as saver:"
    if api == "sync" and not managed:
        block = [opened, "    observed = outcome(saver)"]
        return [folder, *dropping, *_indented(block), "expected = outcome(InMemorySaver())", *end]
    ask = "await outcome(saver)" if api == "async" else "await asyncio.to_thread(outcome, saver)"
    memory = "outcome(InMemorySaver())"
    return [
        "async def main():",
        f"    {folder}",
        *_indented(dropping),
        *_indented(_indented([opened, f"    return {ask}"])),
        "",
        "",
        "observed = asyncio.run(main())",
        f"expected = {f'asyncio.run({memory})' if api == 'async' else memory}",
        *end,
    ]


def _head(contract_id: str, name: str) -> list[str]:
    text = textwrap.wrap(f'"""{contract_id}: {contract(contract_id).statement}', 97)
    return [
        *text[:-1],
        f'{text[-1]}"""',
        f"# Exits with 1 while {name} breaks this promise, with 0 when it keeps it.",
    ]


def _imports(code: str, module: str, opening: Opening) -> list[str]:
    """The imports of the code, and what comes before the saver can be opened."""
    lines = import_lines(code, _OWN, module, opening)
    return [*lines, *(["", *opening.before] if opening.before else [])]


def import_lines(code: str, own: str, module: str, opening: Opening) -> list[str]:
    """Those import statements of ``own`` and of a module that the code uses, first what Python
    brings along; then what opens the saver.
    """
    given = inspect.getsource(importlib.import_module(module))
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    groups = _merged([*_import_nodes(own), *_import_nodes(given)], used)
    for name, found in _merged(_import_nodes("\n".join(opening.imports)), None).items():
        groups.setdefault(name, set()).update(found)
    lines = _sorted(groups)
    lines += [f"sys.path.insert(0, {folder!r})" for folder in opening.folders]
    return lines + _sorted(_merged(_import_nodes("\n".join(opening.local)), None))


def _import_nodes(source: str) -> list[ast.Import | ast.ImportFrom]:
    return [
        node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def _merged(
    nodes: Iterable[ast.Import | ast.ImportFrom], used: set[str] | None
) -> dict[str, set[str]]:
    """Module -> the names imported from it, "" being the module itself; of these, the used ones."""
    groups: dict[str, set[str]] = {}
    for node in nodes:
        for alias in node.names:
            if used is not None and (alias.asname or alias.name).partition(".")[0] not in used:
                continue
            text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            if isinstance(node, ast.ImportFrom):
                groups.setdefault(str(node.module), set()).add(text)
            else:
                groups.setdefault(text, set()).add("")
    return groups


def _sorted(groups: dict[str, set[str]]) -> list[str]:
    plain = [f"import {module}" for module in sorted(groups) if "" in groups[module]]
    named = [
        f"from {module} import {', '.join(sorted(groups[module] - {''}))}"
        for module in sorted(groups)
        if groups[module] - {""}
    ]
    return plain + [part for line in named for part in folded(line)]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]


def _folded(lines: Iterable[str]) -> list[str]:
    return [part for line in lines for part in folded(line)]
