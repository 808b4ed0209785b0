"""The field: the page of released savers is made of the results, which are small."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from saverproof.contracts.registry import contract, contracts
from saverproof.run.known.shipped_files import FOLDER
from saverproof_reports import report_of
from tests.reports.sample import finding, run_event, saver_events

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def scripts_on_the_path() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / ".ci"))
    yield
    sys.path.remove(str(ROOT / ".ci"))


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def release(**more: Any) -> Any:
    given = {"name": "x", "distribution": "their-saver", "version": "1.2", "target": "x"}
    return module("field_packages").Release(**given | {"store": "a file"} | more)


def saver_with(broken: list[dict[str, Any]], **verdicts: list[str]) -> Any:
    others = {"must": {name.replace("_", "-"): ids for name, ids in verdicts.items()}}
    return module("field_page").Saver({"broken": broken, "others": others}, release())


def broken(name: str, **more: Any) -> dict[str, Any]:
    seen = {"seen": "it differs", "expected": "1", "observed": "2", "apis": ["sync"]}
    return {"id": name, "level": "must", **seen, **more}


def test_the_page_is_that_of_the_results() -> None:
    page = module("field_page").page()
    assert (ROOT / "docs" / "field.md").read_text("utf-8") == page, "run: make pages"


def test_the_picture_is_that_of_the_results() -> None:
    picture = module("field_picture").picture()
    assert (ROOT / "docs" / "field.svg").read_text("utf-8") == picture, "run: make pages"
    ElementTree.fromstring(picture)


def test_the_kit_ships_what_was_found_and_read() -> None:
    there = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.toml")}
    assert there == module("field_known").shipped(), "run: make pages"


def test_each_result_is_of_a_release_in_the_list_and_small() -> None:
    listed = {(one.name, one.version) for one in module("field_packages").packages()}
    found = module("field_results").results()
    assert {(one["name"], one["version"]) for one in found} <= listed
    known = {one.id for one in contracts()}
    for one in found:
        assert {each["id"] for each in one.get("broken", ())} <= known
    for path in module("field_results").RESULTS.iterdir():
        assert path.stat().st_size < 20_000


def test_what_was_read_in_a_source_is_about_a_saver_and_a_contract() -> None:
    packages = module("field_packages")
    names = {one.name for one in packages.packages()}
    for one in (*packages.readings(), *packages.disputes()):
        assert one.name in names
        assert contract(one.contract)


def test_each_accusation_on_the_page_was_read_in_the_saver_s_source() -> None:
    found = [one for one in module("field_page").savers() if one.judged]
    unread = [(one.title, each.id) for one in found for each in one.findings if not each.read]
    assert unread == []


def test_of_a_report_only_what_the_page_needs_stays() -> None:
    found = [finding("ordering/pages-tile"), finding("filter/none", api="async")]
    report = report_of([run_event(), *saver_events("x", found), {"event": "end"}])
    reduced = module("field_results").reduced(report, release(), {"ordering/pages-tile": 1})
    assert reduced["sentence"] == "breaks 1 of 56 musts that apply; advice on 1 more"
    assert [(one["id"], one["level"], one["apis"]) for one in reduced["broken"]] == [
        ("ordering/pages-tile", "must", ["sync"]),
        ("filter/none", "should", ["async"]),
    ]
    assert [one.get("script") for one in reduced["broken"]] == [1, None]
    assert "upsert/put-replaces" in reduced["others"]["must"]["held"]
    assert (reduced["left_out"], reduced["beside"]) == ("", [])


@pytest.mark.parametrize(
    ("saver", "mark"),
    [
        ({"broken": [broken("durability/no-gaps")]}, "**✗ 1**"),
        ({"broken": [], "held": ["durability/no-gaps"]}, "✓"),
        (
            {"broken": [], "held": ["durability/no-gaps"], "unknown": ["durability/resume"]},
            "? 1",
        ),
        ({"broken": [], "not_exercised": ["durability/resume"]}, "? 1"),
        ({"broken": [], "not_applicable": ["durability/resume"]}, "–"),
        ({"broken": [], "held": ["upsert/put-replaces"]}, "–"),
    ],
)
def test_a_cell_of_the_matrix_says_held_only_where_all_was_looked_at(
    saver: dict[str, Any], mark: str
) -> None:
    first = saver_with(**saver).cells[0]
    assert module("field_page").COLUMNS[0].families == ("durability",)
    assert first.mark == mark


COPIES = ["deletion/copy-complete", "deletion/copy-independent"]
CALLERS, PUTTING = "channels/versions-of-callers", "deletion/copy-by-putting"
LISTED, COMPLETE = "identity/list-without-namespace", "pending-writes/complete"


@pytest.mark.parametrize(
    ("advice", "versions", "copy"),
    [
        ({"held": [CALLERS, LISTED]}, "works", "by putting: not judged"),
        ({"held": [PUTTING, LISTED]}, "not judged", "by putting: works"),
        ({"not-applicable": [PUTTING], "held": [LISTED]}, "not judged", "by putting: absent"),
        ({"not-exercised": [CALLERS, PUTTING, LISTED]}, "not judged", "by putting: not judged"),
        ({}, "not judged", "by putting: not judged"),
    ],
)
def test_what_the_agent_server_asks_is_not_judged_where_no_result_says_it(
    advice: dict[str, list[str]], versions: str, copy: str
) -> None:
    saver = saver_with([], held=[COMPLETE], not_applicable=COPIES)
    saver.result["others"]["should"] = advice
    assert (saver.server[0], saver.server[4]) == (versions, copy)


def test_what_the_agent_server_asks_is_broken_where_advice_is() -> None:
    found = [broken(one, level="should") for one in (CALLERS, LISTED)]
    saver = saver_with(found, held=[COMPLETE], not_applicable=COPIES)
    assert (saver.server[0], saver.server[4]) == ("**breaks**", "by putting: not judged")
    saver.result["others"]["should"] = {"held": [PUTTING]}
    assert saver.server[4] == "by putting: **breaks**"
    assert saver.cells[5].mark == "–"


def test_the_agent_server_puts_nothing_where_there_is_copy_thread() -> None:
    advice = [broken(one, level="should") for one in (PUTTING, LISTED)]
    assert saver_with(advice, held=COPIES).server[4] == "works"


def test_an_older_release_says_what_the_newest_was_seen_to_keep() -> None:
    ids = ["durability/no-gaps", "upsert/put-replaces", "graph/same-run"]
    older = saver_with([broken(name) for name in ids])
    newest = saver_with([broken("graph/same-run")], held=["durability/no-gaps"])
    assert [one.id for one in older.breaks_unlike(newest)] == ["durability/no-gaps"]
    assert newest.breaks_unlike(older) == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (1, "its script shows it alone"),
        (0, "did not show it again"),
        (2, "could not go on"),
        (124, "did not end within 180 s"),
        (None, "it has no script"),
    ],
)
def test_a_finding_says_what_its_script_showed(status: int | None, said: str) -> None:
    (one,) = saver_with([broken("durability/no-gaps", script=status)]).findings
    assert said in one.shown


def test_the_page_counts_what_a_script_showed_alone() -> None:
    ids = ["durability/no-gaps", "upsert/put-replaces", "graph/same-run"]
    statuses = [1, None, 0]
    found = [broken(name, script=script) for name, script in zip(ids, statuses, strict=True)]
    assert module("field_page").shown_alone([saver_with(found)]) == (3, 1)


def test_a_disputed_contract_is_not_held_against_a_saver(monkeypatch: pytest.MonkeyPatch) -> None:
    dispute = module("field_packages").Dispute("x", "durability/no-gaps", "the kit is wrong")
    monkeypatch.setattr(module("field_page"), "disputes", lambda: [dispute])
    saver = saver_with([broken("durability/no-gaps")])
    assert saver.cells[0].mark == "disputed"
    assert saver.findings == []
    assert saver.disputed == [("durability/no-gaps", "the kit is wrong")]


def test_a_release_that_cannot_be_installed_gets_a_result_that_says_so(tmp_path: Path) -> None:
    wrong = release(distribution=str(tmp_path / "nothing"))
    result = module("field_judging").judged(wrong, tmp_path / "no.whl", tmp_path, 60, "1m")
    assert result["failed"]["step"] == "install"
    assert result["failed"]["said"]


def test_a_saver_that_is_not_in_the_list_is_told_in_one_line() -> None:
    result = CliRunner().invoke(module("field").main, ["run", "langgraph-sqlit"])
    assert result.exit_code == 2
    assert "Error: found 'langgraph-sqlit', expected one of " in result.output.splitlines()[-1]


def test_what_is_drawn_by_seed_is_on_the_page_and_the_same_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = module("field_drawing")
    monkeypatch.setattr(drawing, "DRAWN", tmp_path / "drawn.json")
    first, again, other = (drawing.draw(9, seed) for seed in (0, 0, 1))
    assert first == again != other
    on_page = {
        (one.release.stem, finding.id)
        for one in module("field_page").savers()
        if one.judged
        for finding in one.findings
    }
    named = [(release.stem, contract) for release, names in first for contract in names]
    assert len(set(named)) == len(named) == 9
    assert set(named) <= on_page


def test_the_page_says_how_many_of_those_that_were_drawn_showed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = module("field_drawing")
    for name in ("field_drawing", "field_results"):
        monkeypatch.setattr(module(name), "DRAWN", tmp_path / "drawn.json")
    drawing.draw(3, 0)
    for name, status in {"filter/none": 1, "filter/nested": 0, "graph/same-run": None}.items():
        drawing.note(release(), name, 0, status)
    assert "3 of them were drawn by seed" in module("field_page").page()
    assert "and their scripts run: 1 showed what" in module("field_page").page()
