"""Markdown, GitHub annotations and JUnit properties."""

from pathlib import Path
from typing import Any

import pytest
from tests.reports.sample import (
    comparison_events,
    comparison_report,
    finding,
    good_report,
    run_event,
    saver_events,
)

from saverproof_reports import html, markdown, report_of, validate
from saverproof_reports.github import annotations, append_step_summary
from saverproof_reports.junit import item_properties, run_properties
from saverproof_reports.markup import folded


def test_the_verdict_comes_first() -> None:
    first, second, *_ = markdown(good_report()).split("\n\n")
    assert first == "# saverproof"
    assert second == "**sqlite keeps all 56 musts that apply.**"


def test_the_matrix_has_a_row_a_family_and_a_column_a_saver() -> None:
    text = markdown(comparison_report())
    assert (
        "| family | `sqlite` | `langgraph-sqlite` | `langgraph-sqlite-async` | `memory` |" in text
    )
    assert "| upsert | ✓ 6 | ✓ 5 · ✗ 1 | ✓ 4 · ✗ 2 | ✓ 5 · (✗) 1 |" in text


def test_a_violation_shows_all_that_is_needed_to_believe_it() -> None:
    text = markdown(comparison_report())
    for said in (
        "### ✗ `atomicity/all-or-nothing`",
        "must: an operation that raised left nothing, whoever looks",
        "source: [langgraph.checkpoint.base: BaseCheckpointSaver](<https://github.com/langchain-ai/",
        "**What happens to agents:** An agent suffers where all-or-nothing is broken.",
        "**How to fix it:** Mend all-or-nothing with `commit()`. [More of this contract](<https://",
        "3. `fail before row 3 of INSERT INTO writes`",
        "-writes of task 1: ('messages', 'hello'), ('branch:to:b', None)\n",
        "\n+writes of task 1: nothing\n",
        "```python\n",
        "saverproof replay artefacts/langgraph-sqlite-atomicity-all-or-nothing-sync-fault.json",
    ):
        assert said in text


@pytest.mark.parametrize(
    ("events", "said"),
    [
        (lambda events: events[:-1], "The run was cut short. sqlite keeps all 56"),
        (
            lambda events: events[:4],
            "The run was cut short. sqlite keeps 1 of 56 musts that apply; 55 undecided",
        ),
        (lambda events: events[:1], "The run was cut short. No saver was judged."),
        (
            lambda events: [*events[:2], {"event": "end"}],
            "sqlite was judged on no contract; 56 not selected",
        ),
    ],
)
def test_a_verdict_never_sounds_better_than_it_is(events: Any, said: str) -> None:
    run = [run_event(), *saver_events("sqlite"), {"event": "end"}]
    assert said in markdown(report_of(events(run))).replace("\\", "")


def test_an_endless_run_stays_below_what_github_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [finding("ordering/pages-tile", observed="x" * 4000) for _ in range(400)]
    text = markdown(report_of([run_event(), *saver_events("sqlite", findings), {"event": "end"}]))
    assert len(text.encode()) < 1_000_000
    assert "parts are left out here" in text


def test_the_step_summary_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("# before\n")
    append_step_summary(good_report(), path)
    assert path.read_text() == "# before\n" + markdown(good_report())


def test_errors_come_first_among_annotations() -> None:
    levels = [line.split(" ")[0] for line in annotations(comparison_report())]
    assert levels == ["::error"] * 19 + ["::notice"] * 2


def test_a_good_run_has_no_annotations() -> None:
    assert annotations(good_report()) == []


def test_an_undecided_contract_is_a_warning() -> None:
    report = report_of(comparison_events()[:4])
    assert all(line.startswith("::warning ") for line in annotations(report))
    assert len(annotations(report)) == 55


def test_an_annotation_cannot_be_broken_out_of() -> None:
    bad = finding("ordering/pages-tile", summary="a\n::error::b%0A,c:d")
    [line] = annotations(report_of([run_event(), *saver_events("x", [bad]), {"event": "end"}]))
    assert "\n" not in line
    assert line.endswith("a ::error::b%250A,c:d")


def test_a_stale_entry_is_an_error_and_spoils_the_verdict() -> None:
    events = comparison_events()[:3]
    entry = {"id": "ordering/pages-tile", "message": "the example no longer fails"}
    events[2] = {**events[2], "stale": [entry]}
    report = report_of([*events, {"event": "end"}])
    assert annotations(report)[0].startswith("::error title=sqlite%3A stale known violation")
    assert "1 known violation is stale" in markdown(report)


def test_junit_properties_of_an_item() -> None:
    events = comparison_events()
    item = next(event for event in events if event.get("findings"))
    properties = dict(item_properties(item))
    assert properties["saverproof.family"] == "upsert"
    assert properties["saverproof.violated"] == "upsert/special-write-last-wins-mixed"
    assert int(properties["saverproof.judged"]) > 0


def test_junit_properties_of_a_run() -> None:
    properties = dict(run_properties(comparison_report()))
    assert properties["saverproof.seed"] == "0"
    assert properties["saverproof.version.langgraph"] == "1.2.22"
    assert properties["saverproof.langgraph-sqlite.must.violated"] == "2"


def test_names_are_code_and_issues_are_links() -> None:
    events = [run_event(), *saver_events("x", [finding("ordering/pages-tile")])]
    told = "issue langchain-ai/langgraph#7857 (`a_b` | <c>), GHSA-9rwj-6rc7-p77c; see #3"
    events[1]["contracts"][5] |= {"statement": told, "source": "`x.y` of `z`"}
    text = markdown(report_of([*events, {"event": "end"}]))
    assert (
        "must: issue [langchain-ai/langgraph\\#7857](https://github.com/langchain-ai/langgraph/"
        "issues/7857) (`a_b` \\| \\<c\\>), [GHSA-9rwj-6rc7-p77c](https://github.com/advisories/"
        "GHSA-9rwj-6rc7-p77c); see \\#3" in text
    )
    assert "source: [`x.y` of `z`](<https://" in text


def test_the_headline_says_how_many_musts_apply() -> None:
    broken = [finding("ordering/pages-tile"), finding("filter/none")]
    absent = {"deletion": "there is no delete_thread"}
    events = [run_event(), *saver_events("x", broken, inapplicable=absent), {"event": "end"}]
    assert "x breaks 1 of 51 musts that apply; advice on 1 more" in markdown(report_of(events))


def test_the_title_of_what_is_folded_shows_no_escapes() -> None:
    assert folded("a_b <c> @d", "x").startswith(
        "<details><summary>a_b &lt;c&gt; @\u2060d</summary>"
    )


def test_a_violation_without_a_script_says_so() -> None:
    for found in (finding("upsert/put-replaces"), finding("upsert/put-replaces", reproducer="")):
        report = report_of([run_event(), *saver_events("sqlite", [found]), {"event": "end"}])
        for text in (markdown(report), html(report)):
            said = text.count("There is no script that shows this by itself")
            assert said == (not found["reproducer"])


def test_a_script_that_hangs_on_timing_says_how_often_it_showed() -> None:
    found = [finding("ordering/pages-tile", showed="2 of 3"), finding("upsert/put-replaces")]
    report = report_of([run_event(), *saver_events("sqlite", found), {"event": "end"}])
    validate(report)
    for text in (markdown(report), html(report)):
        assert text.count("(seen in 2 of 3 runs of it)") == 1
