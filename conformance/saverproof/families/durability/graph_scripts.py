"""Standalone scripts that kill a process in which a graph runs, and resume it in another."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from saverproof.contracts.registry import contract as contract_of
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.scenarios import GraphScenario, maker
from saverproof.families.graph.scripts import import_lines
from saverproof.families.graph.steps import Answer, Invoke, Program
from saverproof.scripts.assembling import all_folded, head, indented
from saverproof.scripts.opening import Opening, opening_of, opens_asynchronously
from saverproof.scripts.source import literal
from saverproof.scripts.trying import complains_alone
from saverproof.targets.target import Target

_MOST_RUNS = 2
_OWN = """
import asyncio
import contextlib
import functools
import os
import signal
import subprocess
import sys
import tempfile
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
"""
_MORTAL = """
def mortal(saver, folder, place):  # ends the process at this moment, before or after a call
    left, kind = [place], type(saver)
    def moment():
        left[0] -= 1
        if left[0] == 0: os.kill(os.getpid(), signal.SIGKILL)
    def watched(method):
        @functools.wraps(method)
        {define} call(self, *given, **named):
            moment()
            answer = {wait}method(self, *given, **named)
            moment()
            note(folder, "operations", told(*given[:3]))
            return answer
        return call
    methods = {{name: watched(getattr(kind, name)) for name in ("{a}put", "{a}put_writes")}}
    saver.__class__ = type(kind.__name__, (kind,), {{"__slots__": (), **methods}})
    return saver
def told(config, second, third):
    if isinstance(second, dict): return "stored " + second["id"]
    if not second or any(channel in SPECIAL for channel, _ in second): return "nothing for good"
    return f"{{config['configurable']['checkpoint_id']}} {{third}}"
def note(folder, name, line):
    with open(f"{{folder}}/{{name}}", "a") as file: file.write(line + "\\n")
def noted(folder, name):
    with contextlib.suppress(FileNotFoundError), open(f"{{folder}}/{{name}}") as file:
        return file.read().splitlines()
    return []
"""
_SPECIAL = 'SPECIAL = {"__interrupt__", "__error__", "__resume__", "__scheduled__"}'


def graph_reproducer(
    target: Target,
    contract: str,
    scenario: GraphScenario,
    mode: str,
    api: str,
    place: int,
    left: Program,
) -> str:
    """The source of a script that was run and complained, or "".

    The process dies at the ``place``-th moment, before or after a put or put_writes; ``left`` is
    what the next one has to do.
    """
    opening = opening_of(target)
    simple = all(isinstance(step, Invoke | Answer) for step in (*scenario.program, *left))
    if opening is None or opening.drop or not simple:
        return ""
    managed = opens_asynchronously(target)
    text = "\n".join(
        _Script(opening, managed, api, scenario, mode, contract).lines(target.name, place, left)
    )
    # Which of two calls that are made side by side comes first is a matter of luck.
    return text if any(complains_alone(text, contract) for _ in range(_MOST_RUNS)) else ""


class _Script:
    def __init__(
        self,
        opening: Opening,
        managed: bool,
        api: str,
        scenario: GraphScenario,
        mode: str,
        contract: str,
    ) -> None:
        self.opening, self.managed, self.api = opening, managed, api
        self.scenario, self.mode, self.contract = scenario, mode, contract
        self.make = maker(scenario.graph, api)
        self.wait = "await " if api == "async" else ""
        self.define = "async def" if api == "async" else "def"
        self.a = "a" if api == "async" else ""

    def lines(self, name: str, place: int, left: Program) -> Iterator[str]:
        """The whole script."""
        code = [
            _SPECIAL,
            *_MORTAL.format(define=self.define, wait=self.wait, a=self.a).strip().splitlines(),
            *inspect.getsource(self.make).rstrip().splitlines(),
            "config = {'configurable': {'thread_id': 'a'}}",
            f"inputs = [{', '.join(map(_input, self.scenario.program))}]",
            f"left = [{', '.join(map(_input, left))}]  # for the process that comes after",
            *self._run(),
            *self._main(place),
        ]
        body = "\n".join(all_folded(code))
        promise = f"{self.contract}: {contract_of(self.contract).statement}"
        yield from head(promise, name)
        yield from import_lines(body, _OWN, self.make.__module__, self.opening)
        yield from (*self.opening.before, body, "")

    def _run(self) -> Iterator[str]:
        """A function that makes the graph, gives it inputs, and tells what has come of it."""
        options = "".join(
            f", {key}={literal(value)}" for key, value in durability_modes()[self.mode].items()
        )
        history = "graph.aget_state_history" if self.a else "graph.get_state_history"
        each = "async for" if self.a else "for"
        yield f"{self.define} run(saver, folder, given):"
        yield "    nodes = []"
        yield "    def executed(name):"
        yield "        nodes.append(name), note(folder, 'nodes', name)"
        yield "        return noted(folder, 'nodes').count(name)"
        yield f"    graph = {self.make.__name__}(executed, saver)"
        yield "    for one in given:"
        yield f"        result = {self.wait}graph.{self.a}invoke(one, config{options})"
        yield f"    state = {self.wait}graph.{self.a}get_state(config)"
        yield f"    values = [one.values {each} one in {history}(config)]"
        yield "    return repr((result, state.values, state.next, values))"

    def _main(self, place: int) -> Iterator[str]:
        with_saver = "async with" if self.managed else "with"
        call = self.wait or ("await asyncio.to_thread(" if self.managed else "")

        def run(*arguments: str) -> str:
            given = ", ".join(arguments)
            if call.endswith("("):
                return f"{call}run, {given})"
            return f"{call}run({given})"

        opened = f"{with_saver} {self.opening.expression} as saver:"
        again = "set(noted(folder, 'operations')) & done" if self.contract.endswith("rerun") else ""
        lines = [
            "if len(sys.argv) > 1:  # the process that dies",
            "    path, folder = sys.argv[1:]",
            f"    {opened}",
            f"        {run(f'mortal(saver, folder, {place})', 'folder', 'inputs')}",
            "    sys.exit()",
            "with tempfile.TemporaryDirectory() as folder:",
            f"    expected = {run('InMemorySaver()', 'folder', 'inputs')}",
            "with tempfile.TemporaryDirectory() as path, tempfile.TemporaryDirectory() as folder:",
            "    ended = subprocess.run([sys.executable, __file__, path, folder]).returncode",
            "    if ended != -signal.SIGKILL: sys.exit(2)",
            "    done = set(noted(folder, 'operations'))",
            "    stored = {line.split()[1] for line in done if line.startswith('stored ')}",
            "    done = {line for line in done if line.split()[0] in stored}",
            "    with contextlib.suppress(FileNotFoundError): os.remove(folder + '/operations')",
            "    try:",
            f"        {opened}",
            f"            observed = {run('mortal(saver, folder, 0)', 'folder', 'left')}",
            "    except Exception as error:",
            '        observed = f"raised {error!r}"',
            *([f"    again = {again}"] if again else []),
            f"    if {'again' if again else 'observed != expected'}:",
            '        told = f"expected: {expected:.1500}\\nobserved: {observed:.1500}"',
            *(["        told = f'executed again, checkpoint and task: {again}'"] if again else []),
            '        raise SystemExit(f"{__doc__}\\n{told}")',
        ]
        if self.managed or self.api == "async":
            lines = ["async def main():", *indented(lines), "asyncio.run(main())"]
        yield from lines


def _input(step: Invoke | Answer | object) -> str:
    if isinstance(step, Answer):
        return f"Command(resume={literal(step.answer)})"
    assert isinstance(step, Invoke)
    return literal(step.given)
