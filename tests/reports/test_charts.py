"""The charts: figures arranged into shapes, and the shapes drawn."""

import subprocess
import sys
from collections import Counter
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.reports.hostile import HUGE, NASTY

from saverproof_reports import charts, drawing
from saverproof_reports.fault_words import KILL_OUTCOMES

TRIALS: list[dict[str, Any]] = [
    {"operation": "put", "kind": "io", "outcome": "whole", "count": 3, "recovery_ms": [1.2]},
    {"operation": "put", "kind": "io", "outcome": "lost", "recovery_ms": [40.0, 41.0]},
    {"operation": "delete_thread", "kind": "statement", "outcome": "absent"},
]


def svg(drawn: Any) -> ElementTree.Element:
    return ElementTree.fromstring(drawn)


def stacked(trials: list[dict[str, Any]]) -> list[charts.Bar]:
    """Bars with a segment for each outcome."""
    counted: dict[str, Counter[str]] = {}
    for trial in trials:
        row = counted.setdefault(f"{trial['operation']}, {trial['kind']}", Counter())
        row[trial["outcome"]] += trial.get("count", 1)
    return [charts.composition(name, row, KILL_OUTCOMES) for name, row in sorted(counted.items())]


def rectangles(drawn: Any, series: str) -> list[dict[str, float]]:
    """The rectangles of one series, from the top of the chart to its end."""
    found = svg(drawn).findall(f".//g[@class='series {series}']//rect")
    shapes = [
        {name: float(one.get(name, 0)) for name in ("x", "y", "width", "height")} for one in found
    ]
    return sorted(shapes, key=lambda shape: (shape["y"], shape["x"]))


def test_an_endless_fault_map_shows_what_was_not_clean() -> None:
    place = {"operation": "put", "kind": "io", "place": "write", "outcome": "clean"}
    places = [place] * 5000 + [{**place, "outcome": "torn"}]
    [row] = charts.fault_map(places)["put"]
    assert [cell["outcome"] for cell in row.cells] == ["torn"]
    assert (row.total, row.undrawn) == (5001, 5000)


def test_the_kills_of_an_operation_are_in_the_order_in_which_it_passes_them() -> None:
    def kill(operation: str, kind: str, at: int) -> dict[str, Any]:
        return {"operation": operation, "kind": kind, "at": at, "place": "x", "outcome": "whole"}

    kills = [
        kill("closing", "call", 1),
        kill("after put", "acknowledged", 1),
        kill("put", "io", 9),
        kill("put", "statement", 10),
        kill("put", "statement", 2),
        kill("between operations", "instant", 5),
        kill("opening", "io", 1),
    ]
    timeline = charts.kill_timeline(kills)
    assert list(timeline) == ["opening", "put", "between operations", "closing"]
    places = [(row.kind, [cell["at"] for cell in row.cells]) for row in timeline["put"]]
    assert places == [("statement", [2, 10]), ("io", [9]), ("acknowledged", [1])]


def test_recovery_times_all_stand_in_the_histogram() -> None:
    columns = charts.recovery_columns([{"recovery_ms": [0.0, 1.0, 2.0, 500.0, 1e300]}, {}])
    assert sum(column.count for column in columns) == 5
    assert all(one.end == other.start for one, other in pairwise(columns))
    [column] = [column for column in columns if column.start == 500]
    assert (column.end, column.count) == (700, 1)


@pytest.mark.parametrize("figure", [0.0, 0.02, 5.5, 1e300])
def test_a_single_recovery_time_does_not_fill_the_histogram(figure: Any) -> None:
    columns = charts.recovery_columns([{"recovery_ms": [figure]}])
    assert len(columns) > 1
    assert sum(column.count for column in columns) == 1


def test_images_are_in_the_order_of_what_they_lack() -> None:
    bars = charts.power_bars({"10": 1, "2": 7, "0": 640, "1": 5, "3": 0})
    assert [(bar.label, bar.told) for bar in bars] == [
        ("no operation", "640"),
        ("1 operation", "5"),
        ("2 operations", "7"),
        ("10 operations", "1"),
    ]
    assert [bar.segments[0].name for bar in bars] == ["whole", "lost", "lost", "lost"]


def test_the_smallest_of_very_many_counts_are_added_up() -> None:
    bars = charts.lengths({f"Error{number}": number for number in range(1, 101)})
    assert len(bars) == charts.MOST_BARS + 1
    assert (bars[0].label, bars[0].told) == ("Error100", "100")
    assert (bars[-1].label, bars[-1].told) == ("60 others", f"{sum(range(1, 61)):,}")


def test_bars_are_as_long_as_the_figures_say() -> None:
    drawn = drawing.bars(charts.lengths({"one": 50, "two": 100, "three": 25}), "x")
    lengths = [shape["width"] for shape in rectangles(drawn, "plain")]
    assert lengths[0] / lengths[1] == pytest.approx(0.5, abs=0.01)
    assert lengths[2] / lengths[1] == pytest.approx(0.25, abs=0.01)


def test_what_was_found_after_kills_has_the_colour_of_its_outcome() -> None:
    drawn = drawing.bars(stacked(TRIALS), "x")
    [absent], [whole], [lost] = (
        rectangles(drawn, series) for series in ("o-absent", "o-whole", "o-lost")
    )
    assert absent["y"] < whole["y"] == lost["y"]
    assert absent["width"] == pytest.approx(whole["width"] + lost["width"], abs=0.5)
    assert whole["width"] == pytest.approx(3 * lost["width"], abs=0.5)
    assert lost["x"] == pytest.approx(whole["x"] + whole["width"], abs=0.5)


def test_one_loss_among_very_many_kills_is_seen() -> None:
    kill = TRIALS[0]
    trials = [{**kill, "count": 1_000_000}, {**kill, "outcome": "lost", "count": 1}]
    [lost] = rectangles(drawing.bars(stacked(trials), "x"), "o-lost")
    assert lost["width"] > 4


def test_columns_are_as_high_as_the_figures_say() -> None:
    figures = [1.2, 5.5, 5.5, 5.5]
    drawn = drawing.histogram(charts.recovery_columns([{"recovery_ms": figures}]), "x")
    low, high = sorted(rectangles(drawn, "plain"), key=lambda shape: shape["x"])
    assert high["height"] == pytest.approx(3 * low["height"], abs=0.5)
    assert high["width"] == pytest.approx(low["width"], abs=0.2)
    assert high["y"] + high["height"] == pytest.approx(low["y"] + low["height"], abs=0.2)


@pytest.mark.parametrize(
    ("figures", "axis"),
    [
        ([1.2, 5.5], ["1", "1.5", "2", "3", "5", "7"]),
        ([0.8, 500], ["1", "3", "10", "30", "100", "300"]),
        ([1e300], ["500,000", "700,000", "∞"]),
        ([0.0, 1e6], ["0.1", "1", "10", "100", "1,000", "10,000", "100,000"]),
    ],
)
def test_the_axis_of_the_histogram_has_room_for_its_figures(figures: Any, axis: Any) -> None:
    drawn = svg(drawing.histogram(charts.recovery_columns([{"recovery_ms": figures}]), "x"))
    assert [text.text for text in drawn.findall(".//g[@class='axis x']//text")] == axis


def charted(label: str = "put") -> list[str]:
    trials = [{**trial, "operation": label} for trial in TRIALS]
    return [
        drawing.bars(stacked(trials), "What was found"),
        drawing.bars(charts.lengths({label: 4}), "Scenes"),
        drawing.bars(charts.power_bars({"0": 3, "2": 1}), "Images"),
        drawing.histogram(charts.recovery_columns(trials), "Recovery"),
    ]


def test_nothing_of_a_chart_is_a_script_a_style_an_address_or_an_id() -> None:
    for drawn in charted():
        for node in svg(drawn).iter():
            assert node.tag in ("svg", "g", "rect", "path", "text", "title", "desc")
            assert not {"id", "style", "href"} & set(node.attrib)
        assert "://" not in drawn
        assert "<!--" not in drawn


def test_the_same_figures_give_the_same_chart() -> None:
    assert charted() == charted()


def test_a_chart_is_told_to_those_who_cannot_see_it() -> None:
    drawn = svg(charted()[0])
    assert (drawn.get("role"), drawn.get("aria-label")) == ("img", "What was found")
    description = drawn.find("desc")
    assert description is not None
    assert description.text == "put, io: 3 whole, 1 lost; put, statement: 1 absent"


def test_nothing_is_drawn_of_nothing() -> None:
    empty = [
        drawing.bars(stacked([]), "x"),
        drawing.bars(charts.lengths({"none": 0}), "x"),
        drawing.bars(charts.power_bars({}), "x"),
        drawing.histogram(charts.recovery_columns([{}]), "x"),
    ]
    assert empty == [""] * 4


@pytest.mark.parametrize("label", [NASTY, HUGE, "", "\x00", "<b>&", "x" * 400])
def test_whatever_a_label_holds_the_chart_stays_whole_and_small(label: str) -> None:
    for drawn in charted(label):
        assert len(drawn) < 20_000
        for text in svg(drawn).iter("text"):
            assert len(text.text or "") < 60


@pytest.mark.parametrize("label", ["word " * 100, "x" * 400])
def test_a_shortened_label_leaves_the_figures(label: str) -> None:
    drawn = svg(drawing.bars(charts.lengths({label: 1234}), "x"))
    [first, *_, last] = sorted(drawn.iter("text"), key=lambda text: float(text.get("y", 0)))
    assert (first.text or "").startswith(label[:20])
    assert (last.text or "").endswith("…: 1,234")


def test_a_long_label_goes_on_in_a_second_line_and_is_told_whole() -> None:
    label = "two processes, one of which holds the lock for a while and then some"
    drawn = svg(drawing.bars(charts.lengths({label: 2, "other": 1}), "x"))
    lines = sorted((float(text.get("y", 0)), text.text or "") for text in drawn.iter("text"))
    assert " ".join(text for _, text in lines[:2]) == f"{label}: 2"
    assert f"{label}: 2" in [title.text for title in drawn.iter("title")]


@pytest.mark.parametrize("outcome", ["whole", "not-fired"])
def test_a_count_stays_beside_what_it_counts(outcome: str) -> None:
    where = {"operation": "graph: branches that join", "kind": "some operation"}
    trial = {**TRIALS[0], **where, "outcome": outcome}
    drawn = svg(drawing.bars(stacked([trial]), "x"))
    assert f"3\xa0{outcome}" in [text.text for text in drawn.iter("text")]


def test_drawing_leaves_the_import_system_as_it_was() -> None:
    code = (
        "import sys; from saverproof_reports import charts, drawing; "
        "drawing.bars(charts.lengths({'x': 1}), 'x'); import no_such_module"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError: No module named 'no_such_module'" in ended.stderr
