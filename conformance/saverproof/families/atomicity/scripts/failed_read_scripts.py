"""Writes standalone scripts of a read that fails, and answers as if nothing had failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from saverproof.contracts.tables import atomicity
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.scripts.plain_fault import PlainFault
from saverproof.families.atomicity.scripts.script_faults import faults_anywhere
from saverproof.families.atomicity.scripts.scripting import under_fault
from saverproof.programs.steps.definitions import GetTuple, ListTuples, Program, Step
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.formatting import indented
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.script import promise_of
from saverproof.scripts.statements import NoScriptError, lines_of
from saverproof.scripts.verification import first_to_complain
from saverproof.scripts.writer import ScriptWriter
from saverproof_faults import Places, Plan

_MOST_TRIED = 4
"""How many scripts are run at most: the plainest faults come first, and each run takes about a
second.
"""


@dataclass(slots=True)
class FailedRead:
    """A read after a program, the places that it passes without a fault, the cancellations that
    can strike it, and the files that are databases.

    ``files`` are those that only another process may open: the saver may have an SQLite of its own.
    """

    start: Program
    step: Step
    databases: tuple[str, ...]
    files: tuple[str, ...] = ()
    places: Places = field(default_factory=Places)
    cancellations: tuple[Plan, ...] = ()


def reproducer(target: Target, read: FailedRead, injection: Injection, api: str) -> str:
    """Return the source of a script that was run and complained; "" if none of those tried did."""
    opening = opening_of(target)
    if opening is None:
        return ""
    contract = atomicity.FAILED_READS_RAISE.id
    files = read.files if injection.locked_out else read.databases
    database = next(iter(files), "")
    texts: list[str] = []
    for fault in faults_anywhere(injection, read.places, database):
        calls = CallSource(api, opening.managed)
        writer = ScriptWriter(calls, saver_methods(target, read.start, calls))
        try:
            lines = _lines(writer, opening, read, fault)
        except (NoScriptError, KeyError):
            return ""
        texts.append(under_fault(fault, lines, writer, opening, promise_of(contract), target))
    return first_to_complain(texts[:_MOST_TRIED], contract)


def _lines(
    writer: ScriptWriter, opening: Opening, read: FailedRead, fault: PlainFault
) -> list[str]:
    """Return the lines in which the saver is used.

    Raises:
        NoScriptError: a step has no statements for a script.
    """
    asked = _asked(writer, read.step)
    answer = f"found = {asked}"
    reading = [line.format(call=answer, coroutine="read()") for line in fault.call]
    # What is cancelled runs in a task of its own.
    cancelled = any("{coroutine}" in line for line in fault.call)
    task = ["async def read():", "    nonlocal found", f"    {answer}"] if cancelled else []
    return opening.opened(
        [
            *(line for step in read.start for line in lines_of(step, writer)),
            f"stored = found = {asked}",
            *task,
            *fault.before,
            "with contextlib.suppress(Exception):",
            *indented(reading),
            *fault.after,
            "if found != stored:",
            '    raise SystemExit(f"{__doc__}\\nobserved: {found!r:.300}")',
        ]
    )


def _asked(writer: ScriptWriter, step: Step) -> str:
    """Return the expression that reads.

    Raises:
        NoScriptError: scripts do not know this read.
    """
    match step:
        case GetTuple(thread):
            return writer.ask("get_tuple", writer.config(thread, ""))
        case ListTuples(str(thread)):
            return writer.listing(writer.config(thread))
    raise NoScriptError(f"no statements for {type(step).__name__}")
