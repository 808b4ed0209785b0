"""Puts a violation into words, data and a script."""

from __future__ import annotations

from saverproof.items import Finding, ItemPlan
from saverproof.judging.wording import fact_in_words, shown
from saverproof.machines.search import Violation
from saverproof.scripts import reproducer
from saverproof.steps.codec import to_json
from saverproof.steps.describing import describe
from saverproof.targets.target import Target

WIDTH = 1_200


def finding(plan: ItemPlan, target: Target, violation: Violation) -> Finding:
    """A violation as the report has it."""
    difference = violation.breach.difference
    where = "" if difference.address is None else f" ({_place(difference.address)})"
    summary = fact_in_words(difference) + where
    if not violation.steady:
        summary += " (seen once; a second run of the same program did not show it)"
    expected, observed = shown(difference, WIDTH)
    return Finding(
        contract=violation.contract,
        api=plan.api,
        phase="functional",
        summary=summary,
        expected=expected,
        observed=observed,
        steps=tuple(describe(step) for step in violation.program),
        program=to_json(violation.program),
        reproducer=reproducer(
            target, violation.program, violation.breach, plan.api, name=violation.contract
        ),
    )


def _place(address: tuple[str, str, int]) -> str:
    thread, namespace, number = address
    inside = f", namespace {namespace!r}" if namespace else ""
    return f"checkpoint {number} of thread {thread!r}{inside}"
