"""Puts what was found into words, data and a script."""

from __future__ import annotations

from saverproof.atomicity.record import Found
from saverproof.atomicity.scripting import reproducer
from saverproof.atomicity.walking import Stumble
from saverproof.contracts.registry import contract
from saverproof.items import Finding, Plan
from saverproof.programs.codec import to_json
from saverproof.programs.describing import describe
from saverproof.targets.target import Target

WIDTH = 1_200


def finding(plan: Plan, target: Target, shown: list[Found]) -> Finding:
    """A broken contract as the report has it; ``shown`` are trials of it, the plainest first.

    The one is reported for which a script was made, else the first.
    """
    statement = contract(str(shown[0].verdict.contract)).statement
    found, text = shown[0], ""
    for candidate in shown:
        text = reproducer(target, candidate, plan.api, statement)
        if text:
            found = candidate
            break
    scenario, attack, verdict = found.sweep.scenario, found.attack, found.verdict
    steps = [describe(step) for step in (*scenario.start, scenario.step)]
    if attack is not None:
        steps.insert(-1, f"fault: {attack.describe()}")
    steps[-1] += f"  -> {_ending(found)}"
    return Finding(
        contract=str(verdict.contract),
        api=plan.api,
        phase="fault",
        summary=f"{scenario.operation} ({scenario.title}): {verdict.summary}",
        expected=verdict.expected[:WIDTH],
        observed=verdict.observed[:WIDTH],
        steps=tuple(steps),
        program={
            "program": to_json((*scenario.start, scenario.step)),
            "fault": None if attack is None else attack.as_data(),
        },
        reproducer=text,
    )


def _ending(found: Found) -> str:
    """How the operation ended; an error raised on purpose repeats what the fault said."""
    before, purpose, _ = found.ending.partition("raised on purpose")
    return before + purpose


def finding_of_walk(plan: Plan, stumble: Stumble) -> Finding:
    """A contract that a random program broke, as the report has it."""
    steps: list[str] = []
    for number, step in enumerate(stumble.program):
        if number in stumble.faults:
            steps.append(f"fault: {stumble.faults[number].describe()}")
        steps.append(describe(step))
    steps[-1] += f"  -> {stumble.ending}"
    return Finding(
        contract=str(stumble.verdict.contract),
        api=plan.api,
        phase="fault",
        summary=f"a random program: {stumble.verdict.summary}",
        expected=stumble.verdict.expected[:WIDTH],
        observed=stumble.verdict.observed[:WIDTH],
        steps=tuple(steps),
        program={
            "program": to_json(stumble.program),
            "faults": {str(at): fault.as_data() for at, fault in stumble.faults.items()},
        },
        reproducer="",
    )
