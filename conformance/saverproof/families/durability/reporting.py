"""Puts broken contracts into words and data."""

from __future__ import annotations

from collections.abc import Sequence

from saverproof.families.durability.kills.judging import KillOutcome
from saverproof.families.durability.kills.kill_places import PlaceKind
from saverproof.families.durability.kills.record import (
    ATOMIC,
    NO_GAPS,
    REOPENS,
    SURVIVES,
    KillTrial,
)
from saverproof.families.durability.kills.scripting import reproducer
from saverproof.families.items import Finding, ItemPlan
from saverproof.programs.steps.codec import encode, to_json
from saverproof.programs.steps.describing import describe
from saverproof.savers.execution.view import LATEST, parts_of
from saverproof.savers.targets.target import Target
from saverproof.scripts.flaky import often_shown

WIDTH = 1_200
_EXPECTED = {
    SURVIVES: "every operation that had returned is there",
    ATOMIC: "the operation in flight is there whole, or nothing of it",
    NO_GAPS: "nothing later is there when something earlier is not",
    REOPENS: "the store opens by itself, passes its integrity check and takes writes",
}


def finding(plan: ItemPlan, target: Target, contract: str, trials: Sequence[KillTrial]) -> Finding:
    """Return a broken contract as a finding of the report; ``trials`` show it, the plainest
    first.
    """
    trial = trials[0]
    # A script would hang as well; a replay is under a watch.
    script = "" if trial.hung else reproducer(target, contract, trials, plan.api)
    return Finding(
        contract=contract,
        api=plan.api,
        phase="crash",
        summary=_summary(contract, trial),
        expected=_EXPECTED[contract],
        observed=_observed(contract, trial)[:WIDTH],
        steps=_steps(trial),
        program={
            "program": to_json(trial.run.program),
            "versions": list(trial.versions),
            "kill": encode(trial.place),
            "beside": trial.beside,
        },
        reproducer=script,
        showed=often_shown(script),
    )


def _summary(contract: str, trial: KillTrial) -> str:
    where = f"killed {_where(trial)}"
    match contract:
        case _ if contract == REOPENS:
            # Below its first line are the stacks of a process that hung.
            why, *_ = trial.trouble.splitlines()
            return f"{where}: {why}"[:300]
        case _ if contract == ATOMIC and trial.put_again:
            return f"{where}: part of what it should remove comes back with its checkpoint"
        case _ if contract == ATOMIC:
            return f"{where}: {trial.operation} is only partly there"
    lost = len(trial.verdict.lost)
    gone = "1 acknowledged operation is" if lost == 1 else f"{lost} acknowledged operations are"
    gap = ", but a later one is there" if contract == NO_GAPS else ""
    return f"{where}: {gone} gone{gap}"


def _where(trial: KillTrial) -> str:
    place = trial.place
    if place.kind in (PlaceKind.INSTANT, PlaceKind.ACKNOWLEDGED):
        return f"{place.describe()} ({trial.operation})"
    return f"in {trial.operation}, {place.describe()}"


def _observed(contract: str, trial: KillTrial) -> str:
    verdict, program = trial.verdict, trial.run.program
    if contract == REOPENS:
        return trial.trouble
    if contract == ATOMIC:
        there = "there again" if trial.put_again else "in part"
        said = f"{there}: {'; '.join(map(_fact, verdict.torn))}"
        unchanged = "; ".join(map(_fact, verdict.unchanged))
        return f"{said}; as before: {unchanged}" if unchanged else said
    gone = "; ".join(describe(program[position]) for position in verdict.lost)
    later = "; ".join(describe(program[position]) for position in verdict.later)
    return f"gone: {gone}" + (f"; there: {later}" if verdict.outcome is KillOutcome.GAP else "")


def _fact(name: str) -> str:
    thread, namespace, checkpoint, kind, of = parts_of(name)
    if kind == LATEST:
        return f"the latest checkpoint of thread {thread!r}, namespace {namespace!r}"
    task = f" of task {of}" if of else ""
    inside = f", namespace {namespace!r}" if namespace else ""
    return f"{kind}{task} at checkpoint {checkpoint} of thread {thread!r}{inside}"


def _steps(trial: KillTrial) -> tuple[str, ...]:
    program, done = trial.run.program, trial.acknowledged
    steps = [f"{describe(step)}  -> returned" for step in program[:done]]
    if trial.flying:
        steps.append(f"{describe(program[done])}  -> SIGKILL {trial.place.describe()}")
    elif trial.survivor:
        steps.append("meanwhile another process was killed on the same store")
    else:
        steps.append(f"SIGKILL: {_where(trial)}")
    if trial.beside and not trial.survivor:
        steps.insert(0, "meanwhile another process writes to threads of its own")
    steps.append("another process opens the store")
    steps += [f"{describe(program[put])}  -> returned" for put in trial.put_again]
    if trial.continued:
        steps.append(f"{describe(program[done])}  -> returned")
    return tuple(steps)
