"""Standalone scripts that show a flaw: non-zero while it is there, zero when it is gone."""

from __future__ import annotations

from saverproof.judging.session import Breach
from saverproof.programs.steps import Program
from saverproof.reproducing.final import manners, write_program
from saverproof.reproducing.layout import script, statement_of
from saverproof.reproducing.opening import looks_of, opening_of, opens_asynchronously
from saverproof.reproducing.statements import NoScriptError, write_steps
from saverproof.reproducing.trying import complains, complains_alone
from saverproof.reproducing.voice import Voice
from saverproof.reproducing.writer import Looks, Manner, Writer
from saverproof.targets.target import Target


def reproducer(target: Target, program: Program, breach: Breach, api: str, *, name: str) -> str:
    """The source of a script that shows a breach, or "" if none can be made that does.

    It was run, in a process of its own, and complained. ``program`` ends with the step that showed
    the breach; ``api`` is "sync", "async" or "crossed"; ``name`` is the contract's id, with which
    the script and its message begin.
    """
    opening = opening_of(target)
    if opening is None or not program:
        return ""
    voice = Voice(api, opens_asynchronously(target))
    looks = looks_of(target, program, voice)
    promise = f"{name}: {statement_of(breach.contract)}"
    tried = set()
    for manner in manners(program, breach, api):
        writer = Writer(voice, looks, manner)
        try:
            write_program(writer, program, breach)
        except (NoScriptError, KeyError):
            # The model differs from the one that followed the saver's mistakes: a step may build
            # on a checkpoint that is not there any more.
            continue
        text = script(writer, opening, promise, target.name)
        # A thread of this process would hang with the script.
        shows = complains_alone if breach.difference.fact == "hang" else complains
        if text not in tried and shows(text, name):
            return text
        tried.add(text)
    return ""


def death_reproducer(target: Target, program: Program, api: str, *, name: str) -> str:
    """The source of a script whose process dies, or hangs and is ended, in a program's last step.

    It is not run first. "" if the target cannot be imported, or has no script for a step.
    """
    opening = opening_of(target)
    if opening is None or not program:
        return ""
    voice = Voice(api, opens_asynchronously(target))
    writer = Writer(voice, Looks(), Manner("id"))
    writer.imports.add("import faulthandler")
    writer.say("faulthandler.dump_traceback_later(10, exit=True)  # a hang ends with every stack")
    try:
        write_steps(writer, program)
    except (NoScriptError, KeyError):
        return ""
    return script(writer, opening, f"{name}: {statement_of(name)}", target.name)
