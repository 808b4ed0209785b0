"""Writes standalone scripts that kill a process, and look at what it has left."""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.families.durability.kills.kill_source import deaths
from saverproof.families.durability.kills.record import REOPENS, KillTrial
from saverproof.savers.execution.view import AMONG_ALL, parts_of
from saverproof.savers.targets.target import Target
from saverproof.scripts.flaky import tried_often
from saverproof.scripts.kill_script import DIE, KillScript, KillSource
from saverproof.scripts.opening import Opening, opening_of
from saverproof.scripts.statements import NoScriptError
from saverproof.scripts.verification import first_to_complain

_MOST_TRIED = 6
_TIMES_OF_SERVERS = 3
"""How often a script that also kills a server is tried: what the server has written by then depends
on chance, and half of such scripts showed nothing.
"""


def reproducer(target: Target, contract: str, trials: Sequence[KillTrial], api: str) -> str:
    """Return the source of a script that was run and complained; "" if none of those tried did."""
    opening = opening_of(target)
    if opening is None or trials[0].beside:
        return ""
    texts: dict[str, None] = {}
    for trial in trials:
        begun = trial.acknowledged
        if trial.continued:
            texts[_continued(opening, trial, contract, api, target.name)] = None
            continue
        done = begun + 1 if trial.flying else begun
        for death in deaths(trial.place):
            try:
                program = trial.run.program
                run = KillScript(
                    opening,
                    program,
                    api,
                    target.name,
                    listed=_listed(trial),
                    back=tuple(program[put] for put in trial.put_again),
                )
            except (NoScriptError, KeyError):
                return ""
            check, server = contract == REOPENS, trial.place.server
            text = run.killed(contract, death, begun, done, check=check, server=server)
            texts[text] = None
    tried = list(texts)[:_MOST_TRIED]
    if any(trial.place.server for trial in trials):
        told = (tried_often(text, contract) for text in tried * _TIMES_OF_SERVERS)
        return next(filter(None, told), "")
    return first_to_complain(tried, contract)


def _continued(opening: Opening, trial: KillTrial, contract: str, api: str, name: str) -> str:
    """Return a script that puts the checkpoint of early writes after the process that wrote them
    was killed.

    Raises:
        NoScriptError: a step has no statements for a script.
    """
    done = trial.acknowledged
    program = trial.run.program
    run = KillScript(opening, program[:done], api, name, back=program[done : done + 1])
    return run.killed(contract, KillSource(DIE, after=True), done, done)


def _listed(trial: KillTrial) -> tuple[str, ...]:
    """Return, as source, what the script lists beside the threads: all threads, if only that
    listing shows the flaw.
    """
    verdict = trial.verdict
    sides = ([parts_of(name)[3] for name in names] for names in (verdict.torn, verdict.unchanged))
    return ("None",) if any({*kinds} == {AMONG_ALL} for kinds in sides) else ()
