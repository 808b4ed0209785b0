"""How much is judged follows the saver: what there is no time for is named, and not held.

By night, faults: by day programs and graphs run out of time alike.
"""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.plugin_support import Project
from tests.conformance.selftest_support import blamed, hunt, target_of
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG
from tests.wrong_savers.registry import opener

from saverproof import target
from saverproof.families.atomicity.effort import EFFORTS as FAULTS
from saverproof.families.budget import Budget
from saverproof.families.functional import judging as functional
from saverproof.families.functional.effort import EFFORTS
from saverproof.families.items import Outcome
from saverproof.families.machines.explaining.patience import OutOfPatience, Patience
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.registry import judged
from saverproof.families.tally import Tally
from saverproof.judging.scenes.bulk import Bulk
from saverproof.programs import small
from saverproof.programs.steps.definitions import Program
from saverproof.run.plugin.summary import time_taken
from saverproof.suite.timing import cost_of, in_words, item_name, least_of, time_plan
from saverproof_reports import validate

RIGHT = target(name="right")(opener(SqliteReference))
PAIRS = [("isolation", "sync"), ("upsert", "async"), ("atomicity", "sync")]


def facts(call_ms: float, opens_ms: float) -> Any:
    return facts_from(EVERY_OPERATION) | {"call_ms": call_ms, "opens_ms": opens_ms}


@pytest.mark.parametrize("profile", ["quick", "default", "deep"])
def test_a_saver_of_ordinary_speed_is_not_limited(profile: str) -> None:
    plan = time_plan(facts(0.02, 5.0), PAIRS, profile, None, workers=1)
    assert not plan.is_limited
    assert plan.estimate_s == plan.whole_s


@pytest.mark.parametrize("limit_s", [None, 90.0, 400.0])
def test_a_slow_saver_is_judged_within_the_time_but_for_what_is_never_left_out(
    limit_s: float | None,
) -> None:
    slow = facts(20.0, 200.0)
    plan = time_plan(slow, PAIRS, "default", limit_s, workers=2)
    least = {item_name(f, api): least_of(f, "default").seconds(slow) for f, api in PAIRS}
    whole = {item_name(f, api): cost_of(f, "default").seconds(slow) for f, api in PAIRS}
    given = limit_s or 480.0
    assert plan.estimate_s == pytest.approx(max(given, sum(least.values()) / 2))
    assert plan.whole_s == pytest.approx(sum(whole.values()) / 2)
    assert all(least[name] <= plan.items[name] <= whole[name] for name in whole)


def test_a_budget_that_is_more_than_all_of_it_takes_limits_nothing() -> None:
    assert not time_plan(facts(20.0, 200.0), PAIRS, "quick", 36_000.0, workers=1).is_limited


@pytest.mark.parametrize(
    ("seconds", "said"), [(1, "5 s"), (83, "85 s"), (130, "2 min"), (7_200, "2.0 h")]
)
def test_times_are_said_roughly(seconds: float, said: str) -> None:
    assert in_words(seconds) == said


def test_faults_in_a_server_are_in_the_estimate() -> None:
    local = time_plan(facts(0.2, 5.0), PAIRS, "default", None, workers=1)
    served = time_plan(facts(0.2, 5.0) | {"on_server": True}, PAIRS, "default", None, workers=1)
    assert local.estimate_s < served.estimate_s < 2 * local.estimate_s


@pytest.mark.parametrize(
    ("took_s", "broken", "explained"),
    [(200.0, True, True), (105.0, True, False), (200.0, False, False)],
)
def test_a_late_end_is_explained_by_what_is_broken(
    took_s: float, broken: bool, explained: bool
) -> None:
    assert ("what is broken" in time_taken(100.0, took_s, broken)) is explained


def test_without_a_limit_everything_is_done() -> None:
    budget = Budget()
    assert list(budget.within(range(9), "things")) == list(range(9))
    assert budget.left_out == {}


def test_what_there_is_no_room_for_is_named_and_the_first_of_each_kind_done() -> None:
    budget = Budget(limit_s=0.0)
    things = budget.ordered(["a1", "a2", "b1", "a3", "b2"], lambda thing: thing[0])
    assert list(budget.within(things, "things", least=2)) == ["a1", "b1"]
    assert budget.left_out == {"things": (2, 5)}
    assert "3 of 5 things" in budget.reason


def test_what_is_settled_outlives_a_call_in_bulk_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process of a slow saver may be cut off in it, and only what was kept is known then."""
    kept: list[Any] = []
    monkeypatch.setattr(Tally, "keep", lambda self, *given, **known: kept.append(known["settled"]))
    wrong = next(one for one in WRONG if one.breaks == "serialization/non-finite")
    taken: list[bool] = []
    really = Bulk.play

    def play(step: Bulk, context: Any) -> None:
        taken.append("serialization/names" in kept[-1])
        really(step, context)

    monkeypatch.setattr(Bulk, "play", play)
    judged(plan_of(target_of(wrong), "serialization", "sync", tmp_path), target_of(wrong))
    assert taken
    assert all(taken)


def within_no_time(family: str, folder: Path) -> Outcome:
    """What becomes of an item whose time is over before it begins."""
    plan = plan_of(RIGHT, family, "sync", folder, facts=facts(20.0, 1.0))
    return judged(dataclasses.replace(plan, budget_s=0.001), RIGHT)


@pytest.mark.parametrize(
    ("family", "always"),
    [
        ("isolation", {"isolation/hostile-identifiers", "isolation/hostile-filter-keys"}),
        ("pending-writes", set()),
        ("graph", set()),
        by_night("atomicity", {"atomicity/all-or-nothing"}),
    ],
)
def test_nothing_is_held_that_was_not_reached(
    family: str, always: set[str], tmp_path: Path
) -> None:
    outcome = within_no_time(family, tmp_path)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert outcome.extra["budget"]["left_out"]
    unreached = outcome.unexercised.keys() - outcome.checked.keys()
    assert all(outcome.unexercised[name] for name in unreached)
    everything = judged(plan_of(RIGHT, family, "sync", tmp_path), RIGHT)
    left = everything.checked.keys() - outcome.checked.keys()
    assert left <= outcome.unexercised.keys()
    # Directed programs, and one fault of each operation.
    assert always <= {name for name, times in outcome.checked.items() if times}
    assert not always & outcome.unexercised.keys()


@pytest.mark.nightly
def test_every_operation_is_failed_at_least_once(tmp_path: Path) -> None:
    def operations(outcome: Outcome) -> set[str]:
        return {entry["operation"] for entry in outcome.extra["faults"]["map"]}

    everything = judged(plan_of(RIGHT, "atomicity", "sync", tmp_path), RIGHT)
    assert operations(within_no_time("atomicity", tmp_path)) == operations(everything)


def wrong(name: str) -> Any:
    """A wrong saver as a target."""
    return target_of(next(one for one in WRONG if one.name == name))


@pytest.mark.parametrize("calls", [0.0, 300.0])
def test_a_follow_up_that_takes_too_long_is_ended_and_what_it_saw_is_kept(
    calls: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = "ordering/list-newest-first"
    saver = wrong("oldest-first")
    monkeypatch.setattr(functional, "Patience", lambda *_: Patience(calls))
    outcome = hunt(plan_of(saver, "ordering", "sync", tmp_path), saver, contract, steps=300)
    if contract not in blamed(outcome):
        assert outcome.unsettled[contract]["times"] > 0
    account = outcome.extra["differences"]
    assert account["seen"] == account["shown"] + account["explained"] + account["unknown"]


def test_shortening_that_is_ended_early_gives_the_program_as_it_is() -> None:
    def attempt(candidate: Program) -> Program | None:
        raise OutOfPatience

    trials: Any = SimpleNamespace(patience=Patience(0.0), shared=None)
    search = ProgramSearch(trials, frozenset())
    assert search.shrunk(small.TWO, attempt) == (small.TWO, False)
    assert search.shrunk(small.TWO, lambda _: None) == (small.TWO, True)


def test_a_follow_up_that_has_time_is_not_ended(tmp_path: Path) -> None:
    saver = wrong("oldest-first")
    plan = plan_of(saver, "ordering", "sync", tmp_path)
    outcome = hunt(plan, saver, "ordering/list-newest-first", steps=300)
    assert not any("ended early" in finding.summary for finding in outcome.findings)


def told_by(family: str, saver: Any, folder: Path, profile: str) -> list[dict[str, Any]]:
    """What a family says that it knows already, while it judges."""
    told: list[dict[str, Any]] = []
    plan = plan_of(saver, family, "sync", folder, profile=profile)
    judged(plan, saver, lambda figures: told.append(figures["kept"]) if "kept" in figures else None)
    return told


def test_all_is_settled_before_what_a_saver_may_not_survive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    little = dataclasses.replace(EFFORTS["default"], steps=100, examples=0)
    monkeypatch.setitem(EFFORTS, "default", little)
    kept = told_by("serialization", RIGHT, tmp_path, "default")[-1]
    assert kept["findings"] == []
    assert "serialization/large" not in kept["settled"]
    assert {*kept["settled"]} >= kept["checked"].keys() - {"serialization/large"}


@pytest.mark.parametrize(
    ("family", "contract"),
    [("graph", "graph/functional-api"), by_night("atomicity", "atomicity/all-or-nothing")],
)
def test_a_part_that_was_judged_to_its_end_is_settled(
    family: str, contract: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = dataclasses.replace(FAULTS["quick"], most=40, random_programs=1)
    monkeypatch.setitem(FAULTS, "quick", few)
    told = told_by(family, RIGHT, tmp_path, "quick")
    assert contract in told[-1]["settled"]
    assert told[-1]["checked"][contract] > 0


def test_a_finding_is_told_as_soon_as_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    little = dataclasses.replace(EFFORTS["quick"], steps=100, examples=0)
    monkeypatch.setitem(EFFORTS, "quick", little)
    first, *_ = told_by("ordering", wrong("oldest-first"), tmp_path, "quick")
    assert "ordering/list-newest-first" in [one["contract"] for one in first["findings"]]
    assert first["settled"] == []


def test_patience_is_spent_in_follow_ups_alone() -> None:
    patience = Patience(100.0)
    patience.check(1_000)
    with patience.following_up(1_000):
        patience.check(1_050)
    assert patience.ended_early == 0
    with patience.following_up(5_000):
        patience.check(5_060)
    assert patience.ended_early == 1
    assert patience.calls <= 0 < math.inf


def test_a_run_states_its_time_and_what_it_left_out(tmp_path: Path) -> None:
    project = Project(tmp_path)
    result = project.pytest(
        "--saver=tests.conformance.far_targets:rather_far",
        "--saver-families=pending-writes,upsert",
        "--saver-api=sync",
        "--saver-budget=4s",
        "--saver-report=there",
        PYTHONPATH=str(Path(__file__).parents[2]),
    )
    assert result.status == 0, result.output
    assert re.search(r"rather-far: about \d+ s, not \d+ s \(a call takes [\d.]+ ms", result.output)
    assert "left out for want of time" in result.output
    assert re.search(r"time: \d+ s, estimated \d+ s", result.output)
    report = result.report("there")
    assert validate(report) == []
    assert report["run"]["budget_s"] == 4.0
    (judged,) = report["savers"]
    assert {item["family"] for item in judged["budget"]} == {"pending-writes", "upsert"}
    assert all(one["planned"] > one["done"] for i in judged["budget"] for one in i["left_out"])
    text = (tmp_path / "there" / "report.md").read_text()
    assert "left out for want of time" in text


@pytest.mark.parametrize("given", ["0", "soon", "-1m", "m"])
def test_a_budget_is_a_time(given: str, tmp_path: Path) -> None:
    result = Project(tmp_path).pytest("--saver=memory", f"--saver-budget={given}")
    assert result.status == 4
    assert "expected a time above 0 such as 90s, 10m or 2h" in result.output
