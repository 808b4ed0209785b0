"""The axes section: counts of items added, and what was left out told once."""

from __future__ import annotations

from typing import Any

from saverproof_reports.axes import axes_phrase, merge_axes


def item(times: int, covered: int, untouched: list[Any]) -> dict[str, Any]:
    return {
        "points": [{"axis": "limit", "contracts": ["filter/equality"], "touched": {"0": times}}],
        "untouched": untouched,
        "pairs": {"of": 4, "covered": covered, "missing": [], "left_out": []},
    }


GAP = {"family": "filter", "axis": "limit", "point": "1", "why": "no program came to it"}


def test_counts_are_added_and_gaps_told_once() -> None:
    merged = merge_axes([item(2, 4, [GAP]), item(3, 3, [GAP])])
    assert merged["points"] == [
        {"axis": "limit", "contracts": ["filter/equality"], "touched": {"0": 5}}
    ]
    assert merged["untouched"] == [GAP]
    assert axes_phrase({"axes": merged}) == (
        "1 axes of programs: 7 of 8 pairs of points brought together; "
        "not touched: limit: 1 (filter: no program came to it)"
    )


def test_nothing_is_said_where_no_programs_were_crossed() -> None:
    assert axes_phrase({}) == ""
    assert axes_phrase({"axes": merge_axes([])}) == ""
