"""The badge and the SARIF of a run: what others show of it."""

import json
from typing import Any

import pytest
from tests.reports.hostile import hostile_report
from tests.reports.sample import (
    comparison_report,
    finding,
    good_report,
    run_event,
    saver_events,
)

from saverproof_reports import badge, report_of, sarif

TILE = "ordering/pages-tile"


def of(*findings: Any) -> Any:
    return report_of([run_event(), *saver_events("x", [*findings]), {"event": "end"}])


def shown(report: Any) -> tuple[str, str]:
    data = json.loads(badge(report))
    assert data["schemaVersion"] == 1
    return data["message"], data["color"]


def test_a_badge_is_green_only_where_all_held() -> None:
    assert shown(good_report()) == ("keeps 56 of 56 musts", "brightgreen")
    assert shown(of(finding(TILE))) == ("breaks 1 of 56 musts", "red")
    known = finding(TILE, known={"reason": "documented", "link": None})
    assert shown(of(known)) == ("keeps 55 of 56 musts, 1 known", "yellow")
    cut = report_of([run_event(), *saver_events("x")[:3]])
    message, colour = shown(cut)
    assert message.endswith(", cut short")
    assert colour == "yellow"
    assert shown(report_of([])) == ("nothing judged", "lightgrey")


def test_a_badge_names_one_saver_and_counts_several() -> None:
    assert json.loads(badge(good_report()))["label"] == "saverproof: sqlite"
    assert json.loads(badge(comparison_report()))["label"] == "saverproof"


def results(report: Any) -> list[dict[str, Any]]:
    data = json.loads(sarif(report))
    assert data["version"] == "2.1.0"
    (run,) = data["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        (place,) = result["locations"]
        assert not place["physicalLocation"]["artifactLocation"]["uri"].startswith(("/", ".."))
    found: list[dict[str, Any]] = run["results"]
    return found


def test_each_finding_is_a_result_with_its_rule() -> None:
    (result,) = results(of(finding(TILE)))
    assert (result["ruleId"], result["level"]) == (TILE, "error")
    assert result["message"]["text"].startswith("x: two rows of a failed batch of five came back. ")
    rule = json.loads(sarif(of(finding(TILE))))["runs"][0]["tool"]["driver"]["rules"][0]
    assert "How to fix it: Mend pages-tile" in rule["help"]["text"]
    assert rule["helpUri"].endswith("#orderingpages-tile")


def test_what_is_known_is_suppressed_and_advice_is_a_note() -> None:
    (result,) = results(of(finding(TILE, known={"reason": "documented", "link": None})))
    assert result["suppressions"] == [{"kind": "external", "justification": "documented"}]
    (result,) = results(of(finding("filter/none")))
    assert result["level"] == "note"


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("tests/saverproof_target.py:mine", "tests/saverproof_target.py"),
        ("target.py", "target.py"),
        ("sqlite", "pyproject.toml"),
        ("mine.testing:saver", "pyproject.toml"),
        ("/home/me/target.py:mine", "pyproject.toml"),
        ("../target.py:mine", "pyproject.toml"),
    ],
)
def test_a_result_is_shown_at_the_target(target: str, file: str) -> None:
    report = of(finding(TILE))
    report["savers"][0]["saver"]["target"] = target
    (result,) = results(report)
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == file


def test_hostile_text_stays_text() -> None:
    assert results(hostile_report())
    assert json.loads(badge(hostile_report()))
