"""Writes standalone scripts that kill the process of a program within its last step."""

from __future__ import annotations

from dataclasses import replace

from saverproof.families.atomicity.programs.random_programs import WATCHED
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.scripts.script_program import removed
from saverproof.programs.steps.definitions import OwnStep
from saverproof.savers.targets.target import Target
from saverproof.scripts.call_source import CallSource
from saverproof.scripts.kill_script import DIE, KillScript, KillSource, deaths_at_statement
from saverproof.scripts.opening import opening_of
from saverproof.scripts.own_source import OwnSources
from saverproof.scripts.saver_methods import saver_methods
from saverproof.scripts.statements import NoScriptError
from saverproof.scripts.verification import first_to_complain


def kill_reproducer(target: Target, violation: ProgramViolation, api: str, own: OwnSources) -> str:
    """Return the source of a script that was run and complained; "" if none of those tried did, or
    if an earlier step has a fault.
    """
    program, contract = violation.program, str(violation.verdict.contract)
    opening, last = opening_of(target), len(program) - 1
    if opening is None or violation.faults.keys() != {last}:
        return ""
    plan = violation.faults[last].plan
    deaths = [KillSource(DIE)] if plan is None else deaths_at_statement(plan.place.index)
    done = last if plan is None else last + 1
    methods = saver_methods(target, program, CallSource(api, opening.managed))
    methods = replace(methods, own=own.functions)
    also = WATCHED if any(isinstance(step, OwnStep) for step in program) else ()
    try:
        # Each needs a writer of its own, which follows what its script has stored.
        texts = [
            KillScript(opening, program, api, target.name, methods, also, removed(program)).killed(
                contract, death, last, done
            )
            for death in deaths
        ]
    except (NoScriptError, KeyError):
        return ""
    return first_to_complain(texts, contract)
