"""The process that trials are forked from: kept in the judge process, and nowhere else."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from saverproof.families.concurrency import children as concurrency
from saverproof.families.durability import children as durability
from saverproof.families.handlers import HANDLERS
from saverproof.families.items import ItemPlan
from saverproof.families.requests import RELEASE
from saverproof.families.tally import tell_nobody
from saverproof.families.trial_processes import harness_for, keep_harness, release_harness
from saverproof.savers.facts import METHODS
from saverproof_faults.kill import Harness

EVERY = (*concurrency.CHILDREN, *durability.CHILDREN)
SQLITE = {
    "saver": "sqlite",
    "module": "saverproof_savers.targets",
    "file": None,
    "attribute": "sqlite",
}


@pytest.fixture
def keeping() -> Iterator[None]:
    keep_harness(EVERY)
    yield
    release_harness()


def plan_in(folder: Path, family: str = "durability", api: str = "sync") -> ItemPlan:
    facts = {"operations": {name: list(methods) for name, methods in METHODS.items()}}
    return ItemPlan(SQLITE, facts, family, api, "quick", 0, str(folder))


def modules_in_a_trial(harness: Harness) -> set[str]:
    view = harness.look(f"{__name__}:imported")
    return set(view.value)


def imported(arguments: object) -> list[str]:
    return sorted(sys.modules)


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


@pytest.mark.usefixtures("keeping")
def test_a_kept_harness_serves_all_families_and_apis_of_a_target(tmp_path: Path) -> None:
    with harness_for(plan_in(tmp_path / "one"), EVERY) as first:
        pass
    with harness_for(plan_in(tmp_path / "two", "concurrency", "async"), EVERY) as second:
        assert second is first
        assert modules_in_a_trial(second) >= {
            "saverproof.families.concurrency.callers.child",
            "saverproof.families.durability.graphs.graph_child",
            "saverproof.families.graph.definitions.nested",
            "langgraph.graph.state",
            "saverproof_savers.saver",
        }


@pytest.mark.usefixtures("keeping")
def test_a_harness_that_went_down_is_replaced(tmp_path: Path) -> None:
    with harness_for(plan_in(tmp_path), EVERY) as first:
        first.close()
    with harness_for(plan_in(tmp_path), EVERY) as second:
        assert second is not first
        assert second.is_open


@pytest.mark.usefixtures("keeping")
def test_another_target_gets_a_harness_of_its_own(tmp_path: Path) -> None:
    with harness_for(plan_in(tmp_path), EVERY) as first:
        pass
    other = replace(plan_in(tmp_path), target=SQLITE | {"attribute": "sqlite_json"})
    with harness_for(other, EVERY) as second:
        assert second is not first
        assert not first.is_open


def test_a_target_whose_import_leaves_a_thread_is_imported_by_each_trial(tmp_path: Path) -> None:
    (tmp_path / "with_thread.py").write_text(
        "import threading\nfrom saverproof_savers.targets import sqlite\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    file = {"module": None, "file": str(tmp_path / "with_thread.py"), "attribute": "sqlite"}
    with harness_for(replace(plan_in(tmp_path), target=SQLITE | file), EVERY) as harness:
        assert harness.reason is None
        assert "langgraph.graph.state" in modules_in_a_trial(harness)


def test_nothing_is_left_once_it_is_released(tmp_path: Path) -> None:
    before = children()
    keep_harness(EVERY)
    with harness_for(plan_in(tmp_path), EVERY) as harness:
        # What an earlier test has started may just end.
        kept = children() - before
        assert kept
    HANDLERS.answer(RELEASE, None, tell_nobody)
    assert not harness.is_open
    assert not kept & children()


def test_nothing_is_kept_where_nobody_asked_for_it(tmp_path: Path) -> None:
    with harness_for(plan_in(tmp_path), EVERY) as harness:
        assert harness.is_open
    assert not harness.is_open
