"""Describes a difference in words, as data and by a script."""

from __future__ import annotations

from inspect import getdoc
from typing import Any

from saverproof.families.graph.bench import GraphBench, Play
from saverproof.families.graph.comparing import GraphDifference
from saverproof.families.graph.describing import describe
from saverproof.families.graph.likening import mistakes_alike
from saverproof.families.graph.runner import MEANING
from saverproof.families.graph.scenarios import maker
from saverproof.families.graph.scripts import reproducer
from saverproof.families.graph.steps import to_json
from saverproof.families.items import Finding, ItemPlan
from saverproof.programs.values import show

_WIDTH = 1_200
"""How many characters of a value a finding shows."""


def finding(
    plan: ItemPlan, bench: GraphBench, play: Play, difference: GraphDifference, steady: bool
) -> Finding:
    """Return a difference as a finding; ``steady`` says that a second run showed it again."""
    graph = play.scenario.graph
    where = f" at {difference.path}" if difference.path else ""
    script = ""
    if steady:
        script = reproducer(bench.target, play, difference, bench.expected(play), plan.api)
    summary = f"{play.scenario.name}, durability {play.mode!r}: {MEANING[difference.kind]}"
    if not steady:
        summary += " (seen once; a second run of the same program did not show it)"
    return Finding(
        contract=difference.contract,
        api=plan.api,
        phase="graph",
        summary=summary + where,
        expected=show(difference.expected, _WIDTH),
        observed=_observed(bench, play, difference, steady=steady),
        steps=(
            f"graph {graph!r}: {getdoc(maker(graph, plan.api))}",
            *(describe(step) for step in play.scenario.program),
        ),
        program=program_json(play, difference.contract),
        reproducer=script,
        mistakes_alike=mistakes_alike(bench, play, difference) if steady else (),
    )


def _observed(bench: GraphBench, play: Play, difference: GraphDifference, *, steady: bool) -> str:
    shown = show(difference.observed, _WIDTH)
    refused = bench.refused(play) if steady else ""
    return f"{shown}, after {refused}" if refused else shown


def program_json(play: Play, contract: str) -> dict[str, Any]:
    """Return a play as JSON, for artefacts and journals, with the contract that it is about."""
    return {
        "contract": contract,
        "scenario": play.scenario.name,
        "graph": play.scenario.graph,
        "durability": play.mode,
        "steps": to_json(play.scenario.program),
    }
