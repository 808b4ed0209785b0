"""Writes standalone scripts that kill the process of a running graph, and resume the graph in
another one.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.scenarios import GraphScenario, maker
from saverproof.families.graph.scripts import imports_of
from saverproof.families.graph.steps import Answer, Invoke, Program
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.flaky import tried_often
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.source import literal

_MORTAL = """
def mortal(saver, folder, place):  # ends the process at this moment, before or after a call
    left, kind = [place], type(saver)
    def moment():
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
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
    """Return the source of a script that was run and complained; "" if none did.

    The process dies at the ``place``-th moment, before or after a put or put_writes. ``left`` are
    the steps of the process that resumes.
    """
    opening = opening_of(target)
    simple = all(isinstance(step, Invoke | Answer) for step in (*scenario.program, *left))
    if opening is None or opening.drop or not simple:
        return ""
    text = _Script(opening, api, scenario, mode, contract).text(target.name, place, left)
    # Which of two calls made side by side comes first is left to chance (see ``flaky``).
    return tried_often(text, contract)


class _Script:
    def __init__(
        self,
        opening: Opening,
        api: str,
        scenario: GraphScenario,
        mode: str,
        contract: str,
    ) -> None:
        self.opening, self.api = opening, api
        self.scenario, self.mode, self.contract = scenario, mode, contract
        self.make = maker(scenario.graph, api)
        self.wait = "await " if api == "async" else ""
        self.define = "async def" if api == "async" else "def"
        self.a = "a" if api == "async" else ""

    def text(self, name: str, place: int, left: Program) -> str:
        """The whole script."""
        body = [
            _SPECIAL,
            *_MORTAL.format(define=self.define, wait=self.wait, a=self.a).splitlines(),
            *inspect.getsource(self.make).splitlines(),
            "config = {'configurable': {'thread_id': 'a'}}",
            f"inputs = [{', '.join(map(_input, self.scenario.program))}]",
            f"left = [{', '.join(map(_input, left))}]  # for the process that comes after",
            *self._run(),
            *self._main(place),
        ]
        imports = imports_of(self.make)
        return script(promise_of(self.contract), name, self.opening, body, imports)

    def _run(self) -> Iterator[str]:
        """Return a function that makes the graph, gives it inputs, and reports the result."""
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

    def _main(self, place: int) -> list[str]:
        calls = CallSource(self.api, self.opening.managed)
        expected = calls.function("run", "InMemorySaver()", "folder", "inputs")
        dying = calls.function("run", f"mortal(saver, folder, {place})", "folder", "inputs")
        observed = calls.function("run", "mortal(saver, folder, 0)", "folder", "left")
        again = self.contract.endswith("rerun")
        lines = [
            "if len(sys.argv) > 1:  # the process that dies",
            "    path, folder = sys.argv[1:]",
            *indented(self.opening.opened([dying])),
            "    sys.exit()",
            "with tempfile.TemporaryDirectory() as folder:",
            f"    expected = {expected}",
            *self.opening.in_folder(
                [
                    "ended = subprocess.run([sys.executable, __file__, path, folder]).returncode",
                    "if ended != -signal.SIGKILL:",
                    '    raise RuntimeError(f"the process was not killed, but ended with {ended}")',
                    "done = set(noted(folder, 'operations'))",
                    "stored = {line.split()[1] for line in done if line.startswith('stored ')}",
                    "done = {line for line in done if line.split()[0] in stored}",
                    "with contextlib.suppress(FileNotFoundError):",
                    "    os.remove(folder + '/operations')",
                    "try:",
                    *indented(self.opening.opened([f"observed = {observed}"])),
                    "except Exception as error:",
                    '    observed = f"raised {error!r}"',
                    *(["again = set(noted(folder, 'operations')) & done"] if again else []),
                    f"if {'again' if again else 'observed != expected'}:",
                    f"    {_AGAIN if again else _DIFFERENT}",
                ],
                "tempfile.TemporaryDirectory() as folder",
            ),
        ]
        return main(lines, coroutine=calls.in_coroutine)


_AGAIN = complaint("each write once", "executed again, checkpoint and task: {again}")
_DIFFERENT = complaint("{expected:.1500}", "{observed:.1500}")


def _input(step: Invoke | Answer | object) -> str:
    if isinstance(step, Answer):
        return f"Command(resume={literal(step.answer)})"
    assert isinstance(step, Invoke)
    return literal(step.given)
