"""What operations cost, in a report and between two: told by the law that grows fastest."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.reports.sample import good_report

from saverproof_reports import drawing
from saverproof_reports.comparison import compare
from saverproof_reports.comparison_formats import (
    comparison_html,
    comparison_markdown,
    comparison_text,
)
from saverproof_reports.curves import Curve, curves
from saverproof_reports.document import markdown
from saverproof_reports.laws import telling_laws
from saverproof_reports.page import html

BY_ID = "get_tuple by id"
CHEAP = "makes 2 calls, whatever the size"
DEAR = "makes 3 calls more for each checkpoint"


def law(order: str = "constant", words: str = CHEAP, **more: Any) -> dict[str, Any]:
    return {
        "contract": "cost/get-by-id",
        "api": "sync",
        "question": BY_ID,
        "item": "checkpoint",
        "witness": "calls",
        "order": order,
        "law": words,
        "sizes": [16, 64, 256],
        "counts": [2, 2, 2],
        **more,
    }


LINEAR = law("linear", DEAR, counts=[48, 192, 768])


def with_laws(*laws: dict[str, Any]) -> dict[str, Any]:
    told = deepcopy(good_report())
    told["savers"][0]["cost"] = {"laws": list(laws), "missing": []}
    return told


def test_a_question_is_told_by_what_grows_fastest() -> None:
    lines = law("logarithmic", "executes lines", witness="lines")
    other_api = law("more than linear", "makes ever more", api="async")
    told = with_laws(law(), lines, other_api, law(question="put"))
    assert telling_laws(told["savers"][0]) == [lines, law(question="put")]


def test_the_report_has_a_picture_and_a_table_of_what_grows() -> None:
    told = with_laws(LINEAR)
    page = html(told)
    assert f"It {DEAR}." in page
    assert "48 at 16; 192 at 64; 768 at 256" in page
    assert "| linear | makes 3 calls more for each checkpoint | 48 at 16 | 768 at 256 |" in (
        markdown(told)
    )


def test_savers_of_one_report_stand_beside_each_other() -> None:
    told = with_laws(LINEAR)
    beside = deepcopy(told["savers"][0])
    beside["saver"] |= {"name": "another"}
    beside["cost"]["laws"] = [law()]
    page = html({**told, "savers": [told["savers"][0], beside]})
    assert "another: 2 at 16; 2 at 64; 2 at 256" in page


PAGE_OF_TEN = law(
    "linear", "executes ever more", question="list with limit 10", witness="lines",
    item="checkpoint in the thread", counts=[3_000, 12_000, 48_000],
)  # fmt: skip
BUNDLED = "saverproof_savers.saver.SqliteSaver"


def names_beside(told: dict[str, Any], of: dict[str, Any]) -> list[str]:
    first, *_ = told["savers"]
    return [curve.name for curve in curves(of, first, told["savers"])][1:]


def test_the_bundled_saver_and_the_one_in_memory_stand_beside_any() -> None:
    told = with_laws(PAGE_OF_TEN)
    assert names_beside(told, PAGE_OF_TEN) == ["bundled SqliteSaver", "InMemorySaver"]
    assert "bundled SqliteSaver: " in html(told)


def test_what_the_one_in_memory_does_not_do_at_all_is_drawn_as_none() -> None:
    asked = {**PAGE_OF_TEN, "witness": "calls"}
    told = with_laws(asked)
    *_, memory = curves(asked, told["savers"][0], told["savers"])
    assert (memory.name, set(memory.counts)) == ("InMemorySaver", {0})


def test_nothing_is_drawn_twice_and_no_more_than_there_are_colours_for() -> None:
    told = with_laws(PAGE_OF_TEN)
    told["savers"][0]["saver"] |= {"class": BUNDLED}
    assert names_beside(told, PAGE_OF_TEN) == ["InMemorySaver"]
    for name in "abc":
        beside = deepcopy(told["savers"][0])
        beside["saver"] |= {"name": name}
        told["savers"].append(beside)
    assert names_beside(told, PAGE_OF_TEN) == ["a", "b", "c"]


def test_a_question_of_another_writer_has_nothing_beside_it() -> None:
    assert names_beside(with_laws(LINEAR), LINEAR) == []


def test_a_count_of_none_is_drawn() -> None:
    drawn = drawing.curves([Curve("nothing", (16, 64, 256), (0, 0, 0))], "nothing is read")
    assert "nothing: 0 at 16; 0 at 64; 0 at 256" in drawn


@pytest.mark.parametrize(
    ("before", "after", "is_worse"),
    [
        (law(), LINEAR, True),
        (LINEAR, law(), False),
        (LINEAR, LINEAR, False),
        (LINEAR, law("linear", "more", counts=[96, 384, 1_536]), True),
        (law(), law(counts=[9, 9, 9]), False),
        (law(question="put"), LINEAR, False),
    ],
)
def test_comparing_tells_of_a_law_that_got_worse(before: Any, after: Any, is_worse: bool) -> None:
    compared = compare(with_laws(before), with_laws(after))
    assert bool(compared.savers[0].worse_laws) is is_worse
    # It is told, and breaks nothing by itself: contracts do.
    assert compared.exit_status == 0


def test_a_law_that_got_worse_is_told_in_each_form() -> None:
    compared = compare(with_laws(law()), with_laws(LINEAR))
    assert f"costs more: {BY_ID} (sync): {CHEAP} → {DEAR}" in comparison_text(compared)
    assert f"{CHEAP} | {DEAR} |" in comparison_markdown(compared)
    assert "Costs more: 1" in comparison_html(compared)
