"""Standalone scripts that show a flaw: non-zero while it is there, zero when it is gone."""

from __future__ import annotations

from saverproof.judging.session import Breach
from saverproof.programs.steps import Program
from saverproof.reproducing.final import manners, write_program
from saverproof.reproducing.layout import script, statement_of
from saverproof.reproducing.opening import looks_of, opening_of, opens_asynchronously
from saverproof.reproducing.statements import NoScriptError
from saverproof.reproducing.trying import complains
from saverproof.reproducing.voice import Voice
from saverproof.reproducing.writer import Writer
from saverproof.targets.target import Target

UNTRIED = frozenset({"hang"})
"""Facts whose script is not run first, because a thread of this process would hang with it."""


def reproducer(target: Target, program: Program, breach: Breach, api: str, *, name: str) -> str:
    """The source of a script that shows a breach, or "" if none can be made that does.

    The script was run once: it complained. ``program`` ends with the step that showed the breach;
    ``api`` is "sync", "async" or "crossed"; ``name``, the contract's id, heads script and message.
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
        if text not in tried and (breach.difference.fact in UNTRIED or complains(text)):
            return text
        tried.add(text)
    return ""
