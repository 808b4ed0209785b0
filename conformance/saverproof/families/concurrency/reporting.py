"""Puts the problems of scenes into words and data for the report."""

from __future__ import annotations

from saverproof.families.concurrency.callers.records import MOST_LINES, lines_of
from saverproof.families.concurrency.record import Problem, ShownProblem
from saverproof.families.concurrency.scripts.script_writing import reproducer
from saverproof.families.items import Finding, ItemPlan
from saverproof.savers.targets.target import Target
from saverproof.scripts.flaky import often_shown

WIDTH = 1_200
WIDTH_OF_STACKS = 3_600


def finding(plan: ItemPlan, target: Target, shown: ShownProblem) -> Finding:
    """Return a broken contract as a finding of the report."""
    problem = shown.problem
    source = reproducer(target, problem, shown.scene, plan.api)
    return Finding(
        contract=problem.contract,
        api=plan.api,
        phase="concurrency",
        summary=problem.summary[:300],
        expected=problem.expected[:WIDTH],
        observed=_observed(problem),
        steps=_steps(problem),
        program=shown.scene,
        reproducer=source,
        showed=often_shown(source),
    )


def _observed(problem: Problem) -> str:
    if not problem.stacks:
        return problem.observed[:WIDTH]
    return f"{problem.observed[:WIDTH]}\n{problem.stacks}"[:WIDTH_OF_STACKS]


def _steps(problem: Problem) -> tuple[str, ...]:
    return problem.steps[:MOST_LINES] or lines_of(problem.events)
