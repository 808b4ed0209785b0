"""How long a run still takes, from the estimates and what its items took."""

import pytest

from saverproof.suite.course import Course

EXPECTED = {"a": 10.0, "b": 20.0, "c": 30.0}


def test_before_anything_has_ended_the_estimates_count() -> None:
    assert Course(EXPECTED, 1).left_s(0.0) == 60.0
    assert Course(EXPECTED, 2).left_s(0.0) == 30.0


def test_the_longest_item_is_waited_for_however_many_workers_there_are() -> None:
    assert Course(EXPECTED, 8).left_s(0.0) == 30.0


def test_what_runs_counts_down_and_what_has_ended_is_left_out() -> None:
    course = Course(EXPECTED, 1)
    course.begin("a", 0.0)
    assert course.left_s(4.0) == 56.0
    course.end("a", 10.0)
    course.begin("b", 10.0)
    assert course.left_s(15.0) == 45.0


@pytest.mark.parametrize(("took", "more"), [(100.0, True), (1.0, False)])
def test_a_slower_machine_is_slower_throughout(took: float, more: bool) -> None:
    course = Course(EXPECTED, 1)
    course.begin("a", 0.0)
    course.end("a", took)
    assert (course.left_s(took) > 50.0) == more


def test_an_item_that_is_late_is_never_said_to_be_over() -> None:
    course = Course(EXPECTED, 1)
    course.begin("c", 0.0)
    left = [course.left_s(now) for now in (29.0, 60.0, 600.0)]
    assert left == sorted(left)
    assert left[0] > 30.0, "the others are still to come"


def test_an_item_that_is_late_is_expected_to_take_half_as_long_again_as_it_is_late() -> None:
    course = Course({"a": 10.0, "b": 10.0}, 1)
    course.begin("a", 0.0)
    course.end("a", 10.0)
    course.begin("b", 10.0)
    assert course.left_s(220.0) == 100.0


def test_items_that_nobody_estimated_and_that_never_began_are_no_trouble() -> None:
    course = Course({}, 2)
    course.begin("x", 0.0)
    course.end("x", 5.0)
    course.end("y", 5.0)
    assert course.left_s(5.0) == 0.0
