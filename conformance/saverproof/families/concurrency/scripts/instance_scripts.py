"""Writes standalone scripts of two savers on one store: one writes, and the other is asked."""

from __future__ import annotations

from saverproof.families.concurrency.contract_ids import INSTANCES
from saverproof.families.concurrency.scenes.agreeing import Asking, Reader
from saverproof.families.concurrency.scripts.other_process import STARTED, as_the_other
from saverproof.programs.steps import definitions as steps
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.helpers import helpers
from saverproof.scripts.opening import Opening
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import complaint, main, promise_of, script
from saverproof.scripts.statements import NoScriptError, lines_of, read
from saverproof.scripts.writer import ScriptWriter


def instances_script(target: Target, opening: Opening, asking: Asking, api: str) -> str:
    """Return the source of a script of the scene; "" if the scene cannot be written as a script."""
    calls = CallSource(api, opening.managed)
    writer = ScriptWriter(calls, saver_methods(target, asking.changes, calls))
    try:
        question = _expression(asking.questions[0], writer)
        changes = [lines_of(step, writer) for step in asking.changes]
    except (NoScriptError, KeyError):
        return ""
    beside = asking.reader is Reader.BESIDE
    if asking.own and not beside:
        return ""
    ask = f"{calls.wait}asked(reader)" if beside else "elsewhere()"
    lines = [
        *(line for n, each in enumerate(changes) for line in _changed(n, each, asking, ask)),
        f"expected, observed = {calls.wait}asked(saver), {ask}",
        "if observed != expected:",
        f"    {complaint('{expected}', '{observed}')}",
    ]
    if beside:
        lines = opening.in_folder(opening.opened(opening.opened(lines, "reader")))
    else:
        lines = [f"with {STARTED} as other:", *indented([*_ELSEWHERE, *lines])]
        answering = ["for _ in sys.stdin:", f"    print({calls.wait}asked(saver), flush=True)"]
        there = as_the_other(opening, answering)
        lines = [*there, *opening.in_folder(opening.opened(lines))]
    body = [
        *helpers(writer, opening),
        f"{calls.define} asked(saver):",
        f"    return repr({question})",
        *main(lines, coroutine=calls.in_coroutine),
    ]
    return script(promise_of(INSTANCES), target.name, opening, body, writer.imports)


_ELSEWHERE = (
    "def elsewhere():",
    "    print(file=other.stdin, flush=True)",
    "    return other.stdout.readline()[:-1] or sys.exit(2)  # it has ended, and said why",
)


def _changed(number: int, change: list[str], asking: Asking, ask: str) -> list[str]:
    """Return the lines of a change, with the question before it, if there is one."""
    within_the_last = len(asking.changes) - asking.at_once < number
    asked = [] if within_the_last or number - 1 in asking.own else [ask]
    if number in asking.own:
        return [*asked, _SWAPPED, *change, _SWAPPED]
    return [*asked, *change]


_SWAPPED = "saver, reader = reader, saver"
"""The statement before and after a change that the reader makes itself."""


def _expression(question: steps.Step, writer: ScriptWriter) -> str:
    """Return the question as an expression."""
    match question:
        case steps.GetTuple():
            return read(question, writer)
        case steps.ListTuples():
            return writer.listing(*writer.list_arguments(question))
    raise NoScriptError(f"no expression for a {type(question).__name__} step")
