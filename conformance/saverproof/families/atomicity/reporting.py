"""Puts trials that broke a contract into words, data and a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saverproof.contracts.registry import contract
from saverproof.families.atomicity.programs.random_programs import OUTAGES
from saverproof.families.atomicity.programs.random_violation import ProgramViolation
from saverproof.families.atomicity.scripts import cancelled_read_scripts
from saverproof.families.atomicity.scripts.script_faults import faults_anywhere
from saverproof.families.atomicity.scripts.script_kills import kill_reproducer
from saverproof.families.atomicity.scripts.script_program import long_reproducer
from saverproof.families.atomicity.scripts.scripting import reproducer
from saverproof.families.atomicity.sweeps.record import Found
from saverproof.families.items import Finding, ItemPlan
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.describing import describe
from saverproof.savers.targets.target import Target
from saverproof.scripts.own_source import NO_SOURCES, OwnSources
from saverproof_faults import Places

WIDTH = 1_200


def finding(
    plan: ItemPlan, target: Target, shown: list[Found], likewise: Sequence[str] = ()
) -> Finding:
    """Return a broken contract as a finding of the report; ``shown`` are trials of it, the plainest
    first.

    The finding is about the first trial for which a script could be made. If there is none, it is
    about the first one. ``likewise`` are other operations that break the contract.
    """
    statement = contract(str(shown[0].verdict.contract)).statement
    found, text = shown[0], ""
    for candidate in shown:
        text = reproducer(target, candidate, plan.api, statement)
        if text:
            found = candidate
            break
    else:
        text = _at_length(target, found, plan.api)
    scenario, injection, verdict = found.sweep.scenario, found.injection, found.verdict
    steps = [describe(step) for step in (*scenario.start, scenario.step)]
    if injection is not None:
        steps.insert(-1, f"fault: {injection.describe()}")
    steps[-1] += f"  -> {_ending(found)}"
    if scenario.closed:
        steps.append("close the saver, still under the fault")
    others = f"; likewise {', '.join(likewise)}" if likewise else ""
    return Finding(
        contract=found.contract,
        api=plan.api,
        phase="fault",
        summary=f"{scenario.operation} ({scenario.title}): {verdict.summary}{others}",
        expected=verdict.expected[:WIDTH],
        observed=verdict.observed[:WIDTH],
        steps=tuple(steps),
        program={
            "program": to_json((*scenario.start, scenario.step)),
            "fault": None if injection is None else injection.as_data(),
            **({"closed": True} if scenario.closed else {}),
        },
        reproducer=text,
    )


def _at_length(target: Target, found: Found, api: str) -> str:
    """Return a long script of a trial for which there is no short one."""
    scenario, injection = found.sweep.scenario, found.injection
    if injection is None or scenario.is_setup or scenario.closed:
        return ""
    database = next(iter(found.sweep.store.databases), "")
    faults = list(faults_anywhere(injection, found.sweep.counted.places, database))
    program = (*scenario.start, scenario.step)
    return long_reproducer(
        target, program, {len(scenario.start): faults}, found.contract, api, database
    )


def _ending(found: Found) -> str:
    """Return how the operation ended, without an error that only repeats the injected fault."""
    before, purpose, _ = found.ending.partition("raised on purpose")
    return before + purpose


@dataclass(frozen=True, slots=True)
class ShrunkViolation:
    """A program that broke a contract, and the places that each of its failed steps passes without
    a fault; ``title`` says what sort of program it is.

    There is no script of a program with a failed step whose places are not known.
    """

    violation: ProgramViolation
    places: Mapping[int, Places]
    title: str = "a random program"


def finding_of_random(
    plan: ItemPlan, target: Target, shown: ShrunkViolation, own: OwnSources = NO_SOURCES
) -> Finding:
    """Return a contract that a random program broke as a finding of the report; ``own`` are the
    author's steps.
    """
    violation = shown.violation
    steps: list[str] = []
    for number, step in enumerate(violation.program):
        if number in violation.faults:
            steps.append(f"fault: {violation.faults[number].describe()}")
        steps.append(describe(step))
    steps[-1] += f"  -> {violation.ending}"
    return Finding(
        contract=str(violation.verdict.contract),
        api=plan.api,
        phase="fault",
        summary=f"{shown.title}: {violation.verdict.summary}",
        expected=violation.verdict.expected[:WIDTH],
        observed=violation.verdict.observed[:WIDTH],
        steps=tuple(steps),
        program={
            "program": to_json(violation.program),
            "faults": {str(at): fault.as_data() for at, fault in violation.faults.items()},
        },
        reproducer=_script_of_random(plan, target, shown, own),
    )


def _script_of_random(
    plan: ItemPlan, target: Target, shown: ShrunkViolation, own: OwnSources
) -> str:
    violation = shown.violation
    if any(injection.killed for injection in violation.faults.values()):
        # A script that kills looks once, right afterwards.
        return "" if violation.closed else kill_reproducer(target, violation, plan.api, own)
    if not violation.closed:
        text = cancelled_read_scripts.reproducer(target, violation, plan.api)
        if text:
            return text
    database = next(iter(violation.databases), "")
    faults = {
        at: list(faults_anywhere(injection, shown.places[at], database))
        if at in shown.places
        else []
        for at, injection in violation.faults.items()
    }
    return long_reproducer(
        target,
        violation.program,
        faults,
        str(violation.verdict.contract),
        plan.api,
        database,
        [at for at, injection in violation.faults.items() if injection in OUTAGES.values()],
        own,
        closed=violation.closed,
    )
