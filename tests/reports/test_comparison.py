"""Comparing two reports: what got worse, what got better, what came and went."""

from typing import Any

import pytest
from tests.reports.sample import (
    CONTRACTS,
    comparison_report,
    extra,
    finding,
    good_report,
    run_event,
    saver_events,
)

from saverproof_reports import (
    Baseline,
    ReportError,
    compare,
    comparison_html,
    comparison_markdown,
    comparison_text,
    report_of,
)
from saverproof_reports.comparison import VerdictChange

TILE = "ordering/pages-tile"
LISTED = {"reason": "documented", "link": None}


def report(*findings: Any, name: str = "sqlite", **changes: Any) -> Any:
    events = [run_event(**changes), *saver_events(name, findings), {"event": "end"}]
    return report_of(events)


def judged_as(verdict: str) -> Any:
    """A report in which one contract has `verdict`."""
    if verdict == "violated":
        return report(finding(TILE))
    if verdict == "known":
        return report(finding(TILE, known=LISTED))
    events = [run_event(), *saver_events("sqlite"), {"event": "end"}]
    for event in events:
        if event.get("family") == "ordering" and verdict != "held":
            del event["checked"][TILE]
            if verdict == "unsettled":
                seen = {"times": 1, "why": "because", "steps": [], "program": None}
                event["unsettled"] = {TILE: seen}
            said = {"unknown": "unknown", "not-applicable": "inapplicable"}.get(verdict)
            if said:
                event[said] = {TILE: "because"}
    return report_of(events)


def kinds(old: Any, new: Any) -> Any:
    changes = [change for saver in compare(old, new).savers for change in saver.changes]
    return {change.contract: change.kind for change in changes}


WORSE, BETTER, LISTED_NOW = VerdictChange.WORSE, VerdictChange.BETTER, VerdictChange.LISTED
STILL = VerdictChange.STILL
CAME, WENT = VerdictChange.NEWLY_EXERCISED, VerdictChange.NO_LONGER_EXERCISED
TABLE: dict[str, list[VerdictChange | None]] = {
    "held": [None, WORSE, WORSE, WENT, WENT, WENT, WORSE],
    "violated": [BETTER, STILL, LISTED_NOW, WENT, WENT, WENT, WENT],
    "known": [BETTER, WORSE, None, WENT, WENT, WENT, WENT],
    "unknown": [CAME, WORSE, CAME, None, None, None, WORSE],
    "not-exercised": [CAME, WORSE, CAME, None, None, None, WORSE],
    "not-applicable": [CAME, WORSE, LISTED_NOW, None, None, None, WORSE],
    "unsettled": [BETTER, WORSE, LISTED_NOW, None, None, None, None],
}


@pytest.mark.parametrize("old", TABLE)
@pytest.mark.parametrize("column", range(7), ids=list(TABLE))
def test_every_change_of_verdict_has_its_name(old: str, column: int) -> None:
    new = list(TABLE)[column]
    expected = TABLE[old][column]
    found = kinds(judged_as(old), judged_as(new))
    assert found == ({TILE: expected} if expected else {})


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        (report(), report(finding(TILE)), 1),
        (report(finding(TILE)), report(), 0),
        (report(finding(TILE)), report(finding(TILE)), 0),
        (report(finding(TILE)), report(finding(TILE), finding("upsert/put-replaces")), 1),
        (report(), report(finding("filter/none")), 0),
        (report(), report(finding(TILE, known=LISTED)), 1),
        (report(), judged_as("unsettled"), 1),
        (judged_as("unsettled"), judged_as("unsettled"), 0),
    ],
    ids=[
        *("new-flaw", "fixed-flaw", "same-flaw", "another-flaw", "advice", "listed-flaw"),
        *("unsettled", "still-unsettled"),
    ],
)
def test_only_what_got_worse_fails(old: dict[str, Any], new: dict[str, Any], status: int) -> None:
    assert compare(old, new).exit_status == status


def test_a_flaw_that_reaches_the_other_api_got_worse() -> None:
    one, both = report(finding(TILE)), report(finding(TILE), finding(TILE, api="async"))
    assert kinds(one, both) == {TILE: VerdictChange.WORSE}
    assert kinds(both, one) == {TILE: VerdictChange.STILL}


def without(report: dict[str, Any], identity: Any) -> Any:
    for judged in report["savers"]:
        judged["contracts"] = [one for one in judged["contracts"] if one["id"] != identity]
    return report


def test_a_contract_added_by_an_upgrade_is_no_regression() -> None:
    comparison = compare(without(report(), TILE), report(finding(TILE)))
    assert comparison.exit_status == 0
    [change] = comparison.savers[0].changes
    assert (change.kind, change.old, change.new) == (VerdictChange.ADDED, None, "violated")
    assert "added: ordering/pages-tile (must, absent → violated)" in comparison_text(comparison)


def test_a_contract_that_is_gone_is_said() -> None:
    assert kinds(report(), without(report(), TILE)) == {TILE: VerdictChange.REMOVED}


def test_a_renamed_saver_is_found_again() -> None:
    comparison = compare(report(), report(finding(TILE), name="renamed"))
    assert comparison.exit_status == 1
    assert comparison.savers[0].name == "sqlite → renamed"
    assert "different name: sqlite → renamed" in comparison_text(comparison)


def test_savers_are_matched_by_name_and_the_others_are_said() -> None:
    comparison = compare(good_report(), comparison_report())
    assert [saver.name for saver in comparison.savers] == ["sqlite"]
    assert comparison.only_new == ("langgraph-sqlite", "langgraph-sqlite-async", "memory")
    assert "only in the new report: memory" in comparison_text(comparison)


def test_a_saver_renamed_among_others_is_matched_by_its_class() -> None:
    old, new = comparison_report(), comparison_report()
    new["savers"][1]["saver"]["name"] = "renamed"
    assert [saver.name for saver in compare(old, new).savers if "→" in saver.name] == [
        "langgraph-sqlite → renamed"
    ]


def test_reports_without_a_saver_in_common_are_refused() -> None:
    with pytest.raises(ReportError, match=r"the old report has no saver, the new the savers sql"):
        compare(report_of([]), report())


def test_other_settings_and_versions_are_said() -> None:
    new = report(profile="deep")
    new["environment"]["packages"] |= {"langgraph-checkpoint": "5.0.0", "extra": "1"}
    new["environment"]["variables"] = {"LANGGRAPH_STRICT_MSGPACK": "true"}
    new["complete"] = False
    text = comparison_text(compare(report(), new))
    for said in (
        "different profile: default → deep",
        "different langgraph-checkpoint: 4.3.2 → 5.0.0",
        "different extra: none → 1",
        "different LANGGRAPH_STRICT_MSGPACK: none → true",
        "different run: complete → cut short",
    ):
        assert said in text


def test_recovery_and_lost_operations_are_set_side_by_side() -> None:
    old = report_of([run_event(), *saver_events("x", sections=extra({})), {"event": "end"}])
    new = report_of([run_event(), *saver_events("x", sections=extra({}, 3)), {"event": "end"}])
    figures = {figure.what: figure.shown for figure in compare(old, new).savers[0].figures}
    assert figures["most operations lost in a power cut"] == ("0", "12")
    assert figures["kills that lost an acknowledged operation"] == ("0", "18")
    assert figures["recovery after a kill, p50"] == ("3.5 ms", "3.5 ms")
    assert "corrupt disk images after a power cut" not in figures


def test_a_run_that_judged_less_is_not_shown_as_good() -> None:
    whole, less = compare(report(), report()), compare(report(), without(report(), TILE))
    assert 'class="verdict good"' in comparison_html(whole)
    assert 'class="verdict open"' in comparison_html(less)


def test_equal_runs_say_so_in_every_format() -> None:
    comparison = compare(report(), report())
    said = "Nothing got worse, nothing got better."
    assert said in comparison_text(comparison)
    assert said in comparison_markdown(comparison)
    assert said in comparison_html(comparison)
    assert f"unchanged: {sum(map(len, CONTRACTS.values()))} held" in comparison_text(comparison)


def test_every_format_shows_each_change() -> None:
    old = report(finding("upsert/put-replaces"), finding("filter/none"))
    new = report(finding(TILE), finding("parity/same-answers", known=LISTED))
    comparison = compare(old, new)
    for show in (comparison_text, comparison_markdown, comparison_html):
        text = show(comparison)
        assert "2 contracts got worse; 2 got better." in text
        for contract in (TILE, "upsert/put-replaces", "filter/none", "parity/same-answers"):
            assert contract in text


@pytest.mark.parametrize(
    ("saver", "contract", "api", "answer"),
    [
        ("sqlite", TILE, "sync", True),
        ("sqlite", TILE, "async", False),
        ("sqlite", "upsert/put-replaces", "sync", False),
        ("sqlite", "upsert/unheard-of", "sync", True),
        ("memory", TILE, "sync", False),
    ],
)
def test_a_baseline_excuses_what_it_shows_and_nothing_else(
    saver: Any, contract: str, api: str, answer: Any
) -> None:
    savers = [{"name": "sqlite", "class": "sqlite.Saver"}]
    baseline = Baseline.of(report(finding(TILE)), savers)
    assert baseline.excuses(saver, contract, api) is answer


@pytest.mark.parametrize(
    ("verdict", "answer"), [("held", False), ("unknown", False), ("unsettled", True),
                            ("violated", True)],
)  # fmt: skip
def test_a_baseline_excuses_what_was_not_settled_before(verdict: str, answer: bool) -> None:
    savers = [{"name": "sqlite", "class": "sqlite.Saver"}]
    baseline = Baseline.of(judged_as(verdict), savers)
    assert baseline.excuses_unsettled("sqlite", TILE) is answer


def test_a_baseline_excuses_an_api_that_it_did_not_judge() -> None:
    old = report_of(
        [run_event(), *saver_events("sqlite", [finding(TILE)], apis=("sync",)), {"event": "end"}]
    )
    savers = [{"name": "renamed", "class": "sqlite.Saver"}]
    assert Baseline.of(old, savers).excuses("renamed", TILE, "async")
    assert compare(old, report(finding(TILE), finding(TILE, api="async"))).exit_status == 0


def test_what_is_still_broken_is_named_in_every_format() -> None:
    compared = compare(report(finding(TILE), finding("filter/none")), report(finding(TILE)))
    line = f"  still broken: {TILE} (must, violated): "
    assert any(found.startswith(line) for found in comparison_text(compared).splitlines())
    assert comparison_text(compared).startswith("Nothing got worse; 1 still broken; 1 got better.")
    assert "### Still broken: 1\n\nbroken in both" in comparison_markdown(compared)
    assert f"| `{TILE}` | must | violated | violated |" in comparison_markdown(compared)
    assert "Still broken: 1" in comparison_html(compared)
    assert compared.exit_status == 0
