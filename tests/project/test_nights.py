"""What is tried by day: something of each contract, and the rest at night."""

from __future__ import annotations

import pytest

from tests.nights import by_turns, through_the_day, wrong_savers_by_day
from tests.wrong_savers import WRONG


def marks_of(one: pytest.ParameterSet) -> list[str]:
    return [getattr(mark, "name", str(mark)) for mark in one.marks]


def test_the_first_of_each_contract_is_tried_by_day() -> None:
    given = through_the_day(WRONG, 1)
    by_day = [one.values[0] for one in given if "nightly" not in marks_of(one)]
    assert by_day == wrong_savers_by_day(WRONG, 1)
    assert [one.values[0] for one in given] == [*WRONG]
    assert {wrong.breaks for wrong in by_day} == {wrong.breaks for wrong in WRONG}


def test_a_contract_without_a_wrong_saver_by_day_is_an_error() -> None:
    slow = {wrong.name for wrong in WRONG if wrong.breaks == WRONG[0].breaks}
    with pytest.raises(AssertionError):
        through_the_day(WRONG, 1, slow)


def test_each_kind_is_tried_through_one_api_by_day() -> None:
    given = by_turns(["a", "b"], ["sync", "async"])
    by_day = [one.values for one in given if "nightly" not in marks_of(one)]
    assert by_day == [("a", "sync"), ("b", "async")]
    assert len(given) == 4
