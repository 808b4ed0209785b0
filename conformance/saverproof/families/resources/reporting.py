"""Puts leaks into words and data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from saverproof.families.items import Finding, ItemPlan
from saverproof.families.resources.holdings import KINDS
from saverproof.families.resources.judging import Exhaustion, Leak
from saverproof.families.resources.measuring import FEWEST, ResourceMeasurement
from saverproof.families.resources.scripts import exhausting, reproducer
from saverproof.savers.targets.target import Target

SAME_WORK = "the same work however often it is asked for"
_ANOTHER = "another saver, opened then on the same store, does it"
_WIDTH = 2_400


def finding(plan: ItemPlan, target: Target, found: Sequence[Leak]) -> Finding:
    """Return the leaks that break a contract as a finding of the report: the worst first."""
    worst = found[0]
    times = ", ".join(f"{count:,}" for count in worst.law.sizes)
    return Finding(
        contract=worst.contract,
        api=plan.api,
        phase="resources",
        summary=worst.summary,
        expected=f"as many {KINDS[worst.kind].unit} at the end as after the first few times",
        observed="\n".join(map(told, found))[:_WIDTH],
        steps=(f"do {times} times in all: {worst.work.__doc__}", "count what is held, each time"),
        program=program(worst),
        reproducer=reproducer(target, found, plan.api),
    )


def finding_of_exhaustion(plan: ItemPlan, target: Target, found: Sequence[Exhaustion]) -> Finding:
    """Return kinds of work that can be done only so often as a finding of the report."""
    first = found[0]
    return Finding(
        contract=first.contract,
        api=plan.api,
        phase="resources",
        summary=first.summary,
        expected=SAME_WORK,
        observed="\n".join(f"{one.summary}; {_ANOTHER}" for one in found)[:_WIDTH],
        steps=(f"do {first.done + 1:,} times: {first.work.__doc__}",),
        program={"work": first.work.__name__, "done": first.done},
        reproducer=exhausting(target, first, plan.api),
    )


def told(leak: Leak) -> str:
    """Return what is held at each look, in words."""
    unit = KINDS[leak.kind].unit
    counts = "; ".join(
        f"{count:,} after {times:,}"
        for times, count in zip(leak.law.sizes, leak.law.counts, strict=True)
    )
    since = "; ".join(leak.whence)
    return f"{leak.work.__doc__}: {unit}: {counts}. More since the look before: {since}"


def program(leak: Leak) -> dict[str, Any]:
    """Return a leak as JSON, for artefacts."""
    return {
        "work": leak.work.__name__,
        "kind": leak.kind,
        "times": list(leak.law.sizes[:FEWEST]),
        "counts": list(leak.law.counts),
    }


def holdings_as_data(measurements: Iterable[ResourceMeasurement], api: str) -> list[dict[str, Any]]:
    """Return what was held after each work, for the report."""
    return [
        {
            "work": str(one.work.__doc__),
            "api": api,
            "kind": kind,
            "order": str(law.order),
            "times": list(law.sizes),
            "counts": list(law.counts),
        }
        for one in measurements
        if not one.trouble
        for kind, law in one.laws.items()
    ]
