"""Whatever a saver says, every format stays whole, harmless and small."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.reports.hostile import MARKUP, hostile_events, hostile_report
from tests.reports.sample import contracts

from saverproof_reports import (
    Spool,
    html,
    markdown,
    read_artefact,
    read_report,
    read_spool,
    report_of,
    validate,
    write_report,
)
from saverproof_reports.github import annotations
from saverproof_reports.junit import item_properties, run_properties
from saverproof_reports.text import harmless, harmless_data, one_line, slug

HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff\ufeff]")


@pytest.fixture(scope="module")
def report() -> Any:
    return hostile_report()


def test_the_report_keeps_its_schema(report: dict[str, Any]) -> None:
    assert validate(report) == []


def test_the_folder_is_written_and_read_back(report: dict[str, Any], tmp_path: Path) -> None:
    path = write_report(report, tmp_path / "out")
    assert path.read_bytes().isascii()
    assert path.stat().st_size < 1_000_000
    assert validate(read_report(path)) == []
    for script in (tmp_path / "out" / "reproducers").iterdir():
        assert re.fullmatch(r"[a-z0-9-]+\.py", script.name)
        assignment = ast.parse(script.read_text("utf-8")).body[0]
        assert isinstance(assignment, ast.Assign)
        assert ast.literal_eval(assignment.value) == "\ud800 \x1b[31m"
    for artefact in (tmp_path / "out" / "artefacts").iterdir():
        assert "\ud800" in read_artefact(artefact)["program"][0]["value"]


def test_no_value_is_longer_than_four_thousand_characters(report: dict[str, Any]) -> None:
    def longest(value: Any) -> Any:
        if isinstance(value, str):
            return len(value)
        parts = value.values() if isinstance(value, dict) else value
        return max(map(longest, parts), default=0) if isinstance(value, dict | list) else 0

    contracts = report["savers"][0]["contracts"]
    for contract in contracts:
        for violation in contract["violations"]:
            violation = {key: item for key, item in violation.items() if key != "artefact_data"}
            assert longest(violation) <= 4096
    assert longest(report["environment"]) <= 4096
    cut = contracts[8]["violations"] or contracts[5]["violations"]
    assert "cut: 10,000," in cut[0]["observed"]


def test_a_spool_gives_the_same_report(report: dict[str, Any], tmp_path: Path) -> None:
    with Spool(tmp_path / "spool") as spool:
        for event in hostile_events():
            spool.append(event)
    assert report_of(read_spool(tmp_path / "spool")) == report


@pytest.mark.parametrize("write", [markdown, html], ids=["markdown", "html"])
def test_a_page_holds_no_harmful_character(report: dict[str, Any], write: Any) -> None:
    text = write(report)
    assert not HARMFUL.search(text)
    assert len(text.encode()) < 1_000_000


def test_nothing_a_saver_says_is_markup_in_html(report: dict[str, Any]) -> None:
    page = html(report)
    assert MARKUP not in page
    assert "<img" not in page
    assert page.count("<script>") == 1
    assert 'href="javascript:' not in page
    assert "{{ 7 * 7 }}" in page


def test_nothing_a_saver_says_is_markup_in_markdown(report: dict[str, Any]) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(markdown(report))
    inline = [child for token in tokens for child in token.children or ()]
    raw = {token.content for token in [*tokens, *inline] if token.type.startswith("html_")}
    tags = set(re.findall(r"</?(\w+)", " ".join(raw)))
    assert tags <= {"details", "summary", "sub"}
    links = {token.attrGet("href") for token in inline if token.type == "link_open"}
    first = contracts()[0]
    assert first["link"] in links
    assert links <= {first["link"], *(one["page"] for one in contracts())}
    columns = {len(row.split(" | ")) for row in markdown(report).splitlines() if "| ✓" in row}
    assert columns == {2}


def test_annotations_and_properties_stay_on_their_lines(report: dict[str, Any]) -> None:
    events = hostile_events()
    texts = [*annotations(report)]
    texts += [text for pair in run_properties(report) for text in pair]
    texts += [text for pair in item_properties(events[2]) for text in pair]
    assert len(annotations(report)) == 4
    for text in texts:
        assert "\n" not in text
        assert not HARMFUL.search(text)
        assert len(text) < 4000


def test_text_is_cut_and_says_so() -> None:
    assert harmless("a" * 4096) == "a" * 4096
    assert harmless("a" * 5000).endswith("a… (cut: 5,000 characters)")
    assert len(harmless("\x00" * 4096)) <= 4096
    assert harmless("plain ✓ text\n\tkept") == "plain ✓ text\n\tkept"
    assert harmless("\x1b\ud800\U000e0001") == "\\x1b\\ud800\\U000e0001"
    assert one_line(" a\n\n b ") == "a b"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (10**5000, "<integer of 16610 bits>"),
        (b"bytes", "<bytes>"),
        ({1: (2, None)}, {"1": [2, None]}),
        (True, True),
    ],
    ids=["nan", "infinity", "wide", "bytes", "mapping", "boolean"],
)
def test_what_json_cannot_hold_becomes_text(value: Any, shown: Any) -> None:
    assert harmless_data(value) == shown
    json.dumps(harmless_data(value), allow_nan=False)


def test_endless_nesting_ends() -> None:
    value: list[object] = []
    value.append(value)
    assert "<nested too deeply>" in json.dumps(harmless_data(value))


@pytest.mark.parametrize(
    ("text", "name"),
    [("My Saver/../x", "my-saver-x"), ("", "x"), ("…", "x"), ("a" * 200, "a" * 60)],
)
def test_a_slug_is_a_safe_file_name(text: str, name: str) -> None:
    assert slug(text) == name
