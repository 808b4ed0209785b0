"""The spool of a run, and the report of a run that was killed."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.reports.sample import comparison_events, good_events

from saverproof_reports import ReportError, Spool, read_spool, report_of, validate
from saverproof_reports.verdicts import NOT_SELECTED


def verdicts(report: dict[str, Any], saver: Any = 0) -> Any:
    return {found["id"]: found["verdict"] for found in report["savers"][saver]["contracts"]}


def test_events_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "spool.jsonl"
    with Spool(path) as spool:
        for event in comparison_events():
            spool.append(event)
    assert read_spool(path) == json.loads(json.dumps(comparison_events()))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_event_is_on_disk_as_soon_as_it_is_appended(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append({"event": "end", "text": "half \ud800 a pair", "value": float("inf")})
    assert read_spool(tmp_path / "spool")[0]["text"] == "half \ud800 a pair"
    spool.close()
    spool.close()
    with pytest.raises(ReportError, match="closed"):
        spool.append({})


def test_a_new_spool_replaces_an_older_one(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool") as spool:
        spool.append({"event": "end"})
    Spool(tmp_path / "spool").close()
    assert read_spool(tmp_path / "spool") == []


def test_a_last_line_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    path.write_bytes(b'{"event": "run"}\n{"event": "it')
    assert read_spool(path) == [{"event": "run"}]


@pytest.mark.parametrize(
    ("line", "said"), [(b"{", "line 1: is not JSON"), (b"[]", "line 1: found list")]
)
def test_another_broken_line_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    path = tmp_path / "spool"
    path.write_bytes(line + b"\n{}\n")
    with pytest.raises(ReportError, match=said):
        read_spool(path)


def test_a_missing_spool_gets_one_line(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="cannot be read"):
        read_spool(tmp_path / "none")


def test_a_killed_run_leaves_a_report_of_what_was_judged() -> None:
    whole = good_events()
    report = report_of(whole[:5])
    assert validate(report) == []
    assert report["complete"] is False
    found = verdicts(report)
    assert found["interface/complete"] == "held"
    assert found["ordering/pages-tile"] == "unknown"
    assert found["durability/reopens"] == "unknown"


def test_a_run_killed_before_its_first_event_leaves_an_empty_report() -> None:
    report = report_of([])
    assert validate(report) == []
    assert report["savers"] == []


def test_what_a_killed_run_found_stays_found() -> None:
    report = report_of(comparison_events()[:-1])
    assert verdicts(report, 1)["atomicity/all-or-nothing"] == "violated"
    assert report["complete"] is False


def item(**changes: Any) -> Any:
    return {
        "event": "item",
        "saver": "sqlite",
        "family": "interface",
        "api": "sync",
        "checked": {"interface/complete": 3},
        **changes,
    }


@pytest.mark.parametrize(
    ("items", "verdict"),
    [
        ([], "not-exercised"),
        ([item(checked={})], "not-exercised"),
        ([item()], "held"),
        ([item(), item(api="async", unknown={"interface/complete": "cut off"})], "unknown"),
        ([item(checked={}, inapplicable={"interface/complete": "too old"})], "not-applicable"),
        ([item(), item(api="async", inapplicable={"interface/complete": "no"})], "held"),
    ],
)
def test_one_verdict_is_made_of_several_items(items: Any, verdict: str) -> None:
    run, saver, *_ = good_events()
    report = report_of([run, saver, *items, {"event": "end"}])
    assert verdicts(report)["interface/complete"] == verdict


def test_what_an_item_cannot_show_it_does_not_excuse() -> None:
    """Through the sync API nothing is cancelled, however much time there is."""
    run, saver, *_ = good_events()
    for contract in saver["contracts"]:
        contract["apis"] = ["async"]
    late = item(checked={}, unexercised={"interface/complete": "left out within 59 s"})
    report = report_of([run, saver, late, {"event": "end"}])
    judged = {one["id"]: one for one in report["savers"][0]["contracts"]}["interface/complete"]
    assert (judged["verdict"], judged["reason"]) == ("not-exercised", NOT_SELECTED)
    assert not judged["selected"]


def test_a_contract_is_known_only_if_all_its_violations_are() -> None:
    events = comparison_events()
    memory = verdicts(report_of(events), 3)
    assert memory["upsert/special-write-last-wins-mixed"] == "known"
    found = next(
        event
        for event in events
        if event["event"] == "item" and event["saver"] == "memory" and event["findings"]
    )
    found["findings"].append({**found["findings"][0], "known": None})
    memory = verdicts(report_of(events), 3)
    assert memory["upsert/special-write-last-wins-mixed"] == "violated"


def test_sections_of_several_items_are_joined() -> None:
    events = good_events()
    swept = next(event for event in events if event.get("extra"))
    again = {**swept, "api": "async"}
    one = report_of(events)["savers"][0]
    two = report_of([*events, again])["savers"][0]
    assert two["faults"]["points"] == 2 * one["faults"]["points"]
    assert two["faults"]["by_kind"]["io"] == 2 * one["faults"]["by_kind"]["io"]
    assert two["crash"]["trials"] == 2 * one["crash"]["trials"]
    assert two["crash"]["recovery_ms"] == one["crash"]["recovery_ms"]
    assert one["crash"]["recovery_ms"]["p99"] > one["crash"]["recovery_ms"]["p50"] > 0
    assert two["power"]["images"] == 2 * one["power"]["images"]
