"""Puts what was measured into words and data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from saverproof.families.cost.judging import BrokenLaw, table, words
from saverproof.families.cost.measuring import CostMeasurement
from saverproof.families.cost.scripts import reproducer
from saverproof.families.items import Finding, ItemPlan
from saverproof.savers.targets.target import Target

_WIDTH = 1_200


def finding(plan: ItemPlan, target: Target, broken: Sequence[BrokenLaw]) -> Finding:
    """Return a broken contract as a finding of the report: the worst breach first."""
    worst = broken[0]
    law, question = worst.law, worst.question
    observed = [f"{breach.summary}: {counts(breach)}" for breach in broken]
    return Finding(
        contract=question.contract,
        api=plan.api,
        phase="cost",
        summary=worst.summary,
        expected=(f"{_verb(worst)} about as much at {law.sizes[-1]:,} as at {law.sizes[0]:,}"),
        observed="\n".join(observed)[:_WIDTH],
        steps=(
            f"{question.store.__doc__} Let there be {', '.join(f'{n:,}' for n in worst.sizes)}.",
            f"Count what {_verb(worst)}, each time.",
        ),
        program=program(worst),
        reproducer=reproducer(target, broken, plan.api),
    )


def _verb(breach: BrokenLaw) -> str:
    kept = breach.question.counts_what_is_kept
    return f"{breach.question.words} {'keeps' if kept else 'costs'}"


def counts(breach: BrokenLaw) -> str:
    """Return the counts at each size."""
    return table(breach.law.sizes, breach.law.counts)


def program(breach: BrokenLaw) -> dict[str, Any]:
    """Return a broken law as JSON, for artefacts."""
    return {
        "question": breach.question.name,
        "witness": breach.witness,
        "sizes": list(breach.sizes),
        "counts": list(breach.law.counts),
    }


def laws_as_data(measurements: Iterable[CostMeasurement], api: str) -> list[dict[str, Any]]:
    """Return every measured law as data for the report."""
    return [
        {
            "contract": one.question.contract,
            "api": api,
            "question": one.question.words,
            "item": one.question.item,
            "witness": witness,
            "order": str(law.order),
            "law": words(one.question, witness, law),
            "sizes": list(law.sizes),
            "counts": list(law.counts),
        }
        for one in measurements
        if not one.trouble
        for witness, law in one.laws.items()
    ]
