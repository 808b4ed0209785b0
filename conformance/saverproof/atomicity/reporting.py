"""Puts what was found into words, data and a script."""

from __future__ import annotations

from saverproof.atomicity.record import Found
from saverproof.items import Finding, Plan
from saverproof.programs.codec import to_json
from saverproof.programs.describing import describe
from saverproof.targets.target import Target
from saverproof.values import show

WIDTH = 1_200


def finding(plan: Plan, target: Target, found: Found) -> Finding:
    """A broken contract as the report has it."""
    scenario, attack, verdict = found.sweep.scenario, found.attack, found.verdict
    steps = [describe(step) for step in (*scenario.start, scenario.step)]
    if attack is not None:
        steps.insert(-1, f"fault: {attack.describe()}")
    steps[-1] += f"  -> {found.ending}"
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
        reproducer="",
    )


__all__ = ["finding", "show"]
