"""A graph that comes out otherwise is told below the plain flaw that alone makes it so.

By day what orders are likened to; by night, a saver of another make.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.conformance import graph_savers
from tests.conformance.graphs.graph_plans import judged, memory_target
from tests.conformance.judging_support import plan_of
from tests.conformance.mistake_graphs import differs
from tests.conformance.selftest_support import facts_for, target_of
from tests.crowds.first_savers import FIRST
from tests.wrong_savers import WRONG

from saverproof.families.graph.comparing import reordered
from saverproof.families.graph.scenarios import FUNCTIONAL, SAME
from saverproof.families.registry import judged as judged_plan
from saverproof.mistakes import MISTAKES
from saverproof.mistakes.programs import met_by_graphs
from saverproof_reports.causes import causes

SPECIAL = "upsert/special-write-last-wins"


def of_contracts(*outcomes: Any) -> list[dict[str, Any]]:
    """The broken contracts as a report has them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        for each in outcome.findings:
            found.setdefault(each.contract, []).append(
                {
                    "phase": each.phase,
                    "observed": each.observed,
                    "steps": each.steps,
                    "mistake": each.mistake,
                    "mistake_of": each.mistake_of,
                    "mistakes_alike": each.mistakes_alike,
                }
            )
    return [{"id": name, "violations": violations} for name, violations in found.items()]


@pytest.mark.nightly
def test_a_saver_of_another_make_is_likened_to_the_mistake_it_has(tmp_path: Path) -> None:
    [first] = (one for one in FIRST if one.name == "one-table")
    [name] = (flaw.name for flaw in first.flaws if flaw.contract == SPECIAL)
    saver = first.but_for("piles-up", [name])
    target = saver.target()
    graphs, plain = (
        judged_plan(plan_of(target, family, "sync", tmp_path, seed=0, facts=saver.facts()), target)
        for family in ("graph", "upsert")
    )
    assert {each.contract for each in graphs.findings} == {SAME, FUNCTIONAL}
    [own] = (each for each in plain.findings if each.contract == SPECIAL)
    assert all(own.mistake in each.mistakes_alike for each in graphs.findings)
    [group] = causes(of_contracts(graphs, plain))
    assert group["contract"] == SPECIAL
    assert {entry["contract"] for entry in group["also"]} >= {SAME, FUNCTIONAL}
    assert list(tmp_path.iterdir()) == []


def test_an_order_that_differs_from_run_to_run_is_likened_to_the_mistake_behind_it(
    tmp_path: Path,
) -> None:
    wrong = next(one for one in WRONG if one.name == "writes-without-path")
    target = target_of(wrong)
    plan = plan_of(target, "graph", "sync", tmp_path, facts=facts_for(wrong, tmp_path))
    outcome = judged_plan(plan, target)
    assert outcome.findings
    assert all(wrong.note in each.mistakes_alike for each in outcome.findings)


@pytest.mark.parametrize(
    ("observed", "alike"),
    [
        ({"log": ["b", "a"], "count": 1}, True),
        ({"log": ["b", "c"], "count": 1}, False),
        ({"log": ["a", "a"], "count": 1}, False),
        ({"log": ["b", "a"], "count": 2}, False),
    ],
)
def test_only_the_order_in_lists_is_another_order(observed: Any, alike: bool) -> None:
    assert reordered({"log": ["a", "b"], "count": 1}, observed) == alike


def test_what_no_known_mistake_does_is_likened_to_none(tmp_path: Path) -> None:
    outcome = judged(memory_target(graph_savers.EmptiesCopies), tmp_path, "sync")
    assert outcome.findings
    assert all(each.mistakes_alike == () for each in outcome.findings)


@pytest.mark.parametrize("name", sorted(each.name for each in MISTAKES)[::120])
def test_it_is_recorded_which_mistakes_graphs_meet(name: str) -> None:
    mistake = next(each for each in MISTAKES if each.name == name)
    met = not mistake.hangs and not mistake.heavy and differs(name)
    assert (name in met_by_graphs()) == met
