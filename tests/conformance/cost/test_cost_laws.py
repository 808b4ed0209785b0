"""The law by which counts grow, and what of it is a breach."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from

from saverproof.families.cost.effort import sizes_of
from saverproof.families.cost.judging import breaches, doubts
from saverproof.families.cost.measuring import CostMeasurement
from saverproof.families.cost.questions import BY_NAME
from saverproof.families.cost.stores import Checkpoints, Limit
from saverproof.families.laws import GrowthOrder, law_of


def test_a_law_needs_three_sizes() -> None:
    with pytest.raises(ValueError, match="found 2 sizes and 2 counts, expected three or more"):
        law_of([1, 2], [1, 2], 0)


SIZES = (16, 64, 256, 1_024)


@pytest.mark.parametrize(
    ("counts", "order"),
    [
        ((100, 100, 100, 100), GrowthOrder.CONSTANT),
        ((100, 90, 80, 70), GrowthOrder.CONSTANT),
        ((100, 110, 115, 124), GrowthOrder.CONSTANT),
        ((0, 0, 10, 10), GrowthOrder.CONSTANT),
        ((100, 200, 300, 400), GrowthOrder.LOGARITHMIC),
        ((100, 200, 200, 300), GrowthOrder.LOGARITHMIC),
        ((100, 100, 200, 200), GrowthOrder.LOGARITHMIC),
        ((16, 64, 256, 1_024), GrowthOrder.LINEAR),
        ((1_016, 1_064, 1_256, 2_024), GrowthOrder.LINEAR),
        ((0, 0, 0, 400_000), GrowthOrder.LINEAR),
        ((256, 4_096, 65_536, 1_048_576), GrowthOrder.MORE),
        ((160, 896, 4_608, 22_528), GrowthOrder.LINEAR),
    ],
)
def test_the_simplest_law_that_fits(counts: tuple[int, ...], order: GrowthOrder) -> None:
    assert law_of(SIZES, counts, slack=10).order is order


def test_what_one_more_adds_is_told_where_there_are_most() -> None:
    assert law_of(SIZES, (1_016, 1_064, 1_256, 2_024), slack=10).per_item == 1.0


def test_a_few_more_calls_for_a_longer_page_are_no_query_for_each() -> None:
    question = BY_NAME["Limit.page_of_size"]
    in_pages = law_of((4, 16, 64), (3, 3, 12), slack=3)
    for_each = law_of((4, 16, 64), (5, 17, 65), slack=3)
    assert not question.is_broken_by("calls", in_pages)
    assert question.is_broken_by("calls", for_each)


def test_a_witness_that_is_not_there_at_all_sizes_has_no_law() -> None:
    sizes = [16, 64, 256]
    counts = {"lines": [7, 7, 7], "reads": [16, 64]}
    measured = CostMeasurement(BY_NAME["Checkpoints.get_by_id"], sizes, sizes, counts)
    assert measured.laws.keys() == {"lines"}


def test_sizes_are_chosen_by_what_a_call_takes() -> None:
    facts: Any = facts_from(EVERY_OPERATION)
    assert sizes_of(Checkpoints, "default", {**facts, "call_ms": 0.5}) == SIZES
    assert sizes_of(Checkpoints, "default", {**facts, "call_ms": 10.0}) == SIZES[:3]
    assert sizes_of(Checkpoints, "quick", {**facts, "call_ms": 500.0}) == SIZES[:3]
    assert sizes_of(Limit, "quick", {**facts, "call_ms": 500.0}) == (4, 16, 64)


@pytest.mark.parametrize(
    ("witness", "accused", "doubted"),
    [("rows", False, True), ("blocks", False, True), ("unindexed", True, False)],
)
def test_what_a_planner_chose_accuses_nobody_and_holds_nothing(
    witness: str, accused: bool, doubted: bool
) -> None:
    question = BY_NAME["Checkpoints.get_by_id"]
    sizes = [16, 64, 256]
    grown = CostMeasurement(question, sizes, sizes, {witness: [size * 2 for size in sizes]})
    flat = CostMeasurement(question, sizes, sizes, {witness: [8, 8, 8]})
    assert [bool(breaches([grown])), bool(doubts([grown]))] == [accused, doubted]
    assert [*breaches([flat]), *doubts([flat])] == []


def test_a_store_that_gives_space_back_at_times_is_not_accused() -> None:
    question = BY_NAME["RoundsOfRuns.kept"]
    sizes = [1, 4, 16]
    counts = {"kept": [397_673, 332_238, 745_005]}
    swept = CostMeasurement(question, sizes, sizes, counts)
    (doubt,) = doubts([swept])
    assert "gives space back at times" in doubt
    assert "332,238 at 4" in doubt
    assert not breaches([swept])
    only_grown = CostMeasurement(question, sizes, sizes, {"kept": [397_673, 396_000, 745_005]})
    assert breaches([only_grown])
    assert not doubts([only_grown])
