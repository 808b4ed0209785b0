"""The field: the page of released savers is made of the results, which are small."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from saverproof.contracts.registry import contracts
from saverproof_reports import report_of
from tests.reports.sample import finding, run_event, saver_events

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def field() -> ModuleType:
    specification = importlib.util.spec_from_file_location("field", ROOT / ".ci/field.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_results(field: ModuleType) -> None:
    assert (ROOT / "docs" / "field.md").read_text("utf-8") == field.page(), "run: make pages"


def test_each_result_is_of_a_release_that_is_judged(field: ModuleType) -> None:
    judged = {(one["target"], one["version"]) for one in field.packages()}
    assert {(one["target"], one["version"]) for one in field.results()} == judged
    known = {one.id for one in contracts()}
    for one in field.results():
        assert {broken["id"] for broken in one["broken"]} <= known
    assert all(path.stat().st_size < 20_000 for path in field.RESULTS.iterdir())


def test_of_a_report_only_what_the_page_needs_stays(field: ModuleType) -> None:
    found = [finding("ordering/pages-tile"), finding("filter/none", api="async")]
    report = report_of([run_event(), *saver_events("x", found), {"event": "end"}])
    package = {"distribution": "their-saver", "version": "1.2", "target": "x"}
    reduced = field.reduced(report, package)
    assert reduced["sentence"] == "breaks 1 of 56 musts that apply; advice on 1 more"
    assert [(one["id"], one["level"], one["apis"]) for one in reduced["broken"]] == [
        ("ordering/pages-tile", "must", ["sync"]),
        ("filter/none", "should", ["async"]),
    ]


def test_a_target_that_is_not_in_the_list_is_told_in_one_line(field: ModuleType) -> None:
    result = CliRunner().invoke(field.main, ["run", "langgraph-sqlit"])
    assert result.exit_code == 2
    assert result.output.splitlines()[-1] == (
        "Error: found 'langgraph-sqlit', expected one of langgraph-sqlite, langgraph-sqlite-async"
    )
