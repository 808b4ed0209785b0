"""Standalone scripts that show a flaw: non-zero while it is there, zero when it is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from saverproof.judging.facts import RAISED, Difference, Raised
from saverproof.judging.session import Breach
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.manner import Looks, Manner
from saverproof.scripts.opening import Opening, looks_of, opening_of
from saverproof.scripts.own_source import NO_SOURCES, OwnSources
from saverproof.scripts.program_script import program_script
from saverproof.scripts.programs import manners, write_program
from saverproof.scripts.script import promise_of
from saverproof.scripts.statements import NoScriptError, write_steps
from saverproof.scripts.verification import complains, complains_alone
from saverproof.scripts.writer import ScriptWriter
from saverproof.steps import definitions as steps
from saverproof.targets.target import Target
from saverproof.values import Value


def reproducer(
    target: Target,
    program: steps.Program,
    breach: Breach,
    api: str,
    *,
    name: str,
    own: OwnSources = NO_SOURCES,
) -> str:
    """The source of a script that shows a breach, or "" if none can be made that does.

    It was run, in a process of its own, and complained. ``program`` ends with the step that showed
    the breach; ``api`` is "sync", "async" or "crossed"; ``name`` is the contract's id, with which
    the script and its message begin; ``own`` is what an author has added.
    """
    opening = opening_of(target)
    if opening is None or not program:
        return ""
    calls = CallSource(api, opening.managed)
    looks = replace(looks_of(target, program, calls), own=own.functions)
    statement = own.statements.get(name, "")
    return _shown(target, opening, program, breach, calls, looks, name, statement)


def _shown(
    target: Target,
    opening: Opening,
    program: steps.Program,
    breach: Breach,
    calls: CallSource,
    looks: Looks,
    name: str,
    statement: str = "",
) -> str:
    promise = f"{name}: {statement}" if statement else promise_of(name, breach.contract)
    tried = set()
    for manner in manners(program, breach, calls.api):
        writer = ScriptWriter(calls, looks, manner)
        try:
            write_program(writer, program, breach)
        except (NoScriptError, KeyError):
            # The model differs from the one that followed the saver's mistakes: a step may build
            # on a checkpoint that is not there any more.
            continue
        text = program_script(writer, opening, promise, target.name)
        # A thread of this process would hang with the script.
        shows = complains_alone if breach.difference.fact == "hang" else complains
        if text not in tried and shows(text, name):
            return text
        tried.add(text)
    return ""


_BATCH = steps.PutWrites("a", "", 1, 1, (("count", Value("integer", 1)),))
OPERATIONS: Mapping[str, steps.Step] = {
    "put": steps.Put("a", "", 1),
    "put_writes": _BATCH,
    "get_tuple": steps.GetTuple("a", "", 1),
    "list": steps.ListTuples("a", ""),
    "delete_thread": steps.DeleteThread("a"),
    "task_path": replace(_BATCH, path="~__pregel_pull, agent"),
}
"""A step for each operation that a saver has to have, and for put_writes with a task path."""


def operation_reproducer(target: Target, operation: str, api: str, *, name: str) -> str:
    """The source of a script that calls an operation which a saver lacks; see :func:`reproducer`.

    ``operation`` is a key of :data:`OPERATIONS`.
    """
    step = OPERATIONS[operation]
    missing = Raised(NotImplementedError())
    difference = Difference(RAISED, None, f"{operation} to be there", missing)
    breach = Breach(name, difference, 1, step)
    opening = opening_of(target)
    if opening is None:
        return ""
    calls = CallSource(api, opening.managed)
    return _shown(target, opening, (step,), breach, calls, Looks(), name)


def death_reproducer(target: Target, program: steps.Program, api: str, *, name: str) -> str:
    """The source of a script whose process dies, or hangs and is ended, in a program's last step.

    It is not run first. "" if the target cannot be imported, or has no script for a step.
    """
    opening = opening_of(target)
    if opening is None or not program:
        return ""
    writer = ScriptWriter(CallSource(api, opening.managed), Looks(), Manner("id"))
    writer.say("faulthandler.dump_traceback_later(10, exit=True)  # a hang ends with every stack")
    try:
        write_steps(writer, program)
    except (NoScriptError, KeyError):
        return ""
    return program_script(writer, opening, promise_of(name), target.name)
