"""Pending writes: which ones stick, and in which order they come back."""

from typing import Any

import pytest
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, SCHEDULED

from saverproof_savers import SqliteSaver
from tests.savers.helpers import at, got, put, writes_of


@pytest.fixture
def thread(any_saver: SqliteSaver) -> SqliteSaver:
    put(any_saver, 1)
    return any_saver


def test_a_batch_comes_back_in_order(thread: SqliteSaver) -> None:
    batch = [(f"channel {index}", index) for index in range(12)] + [("twice", 1), ("twice", None)]
    thread.put_writes(at(number=1), batch, "task")
    assert writes_of(thread, 1) == batch


def test_a_regular_write_keeps_its_first_value(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1), [("a", "first")], "task")
    thread.put_writes(at(number=1), [("a", "second"), ("b", "new")], "task")
    assert writes_of(thread, 1) == [("a", "first"), ("b", "new")]


@pytest.mark.parametrize("channel", [ERROR, SCHEDULED, INTERRUPT, RESUME])
def test_a_special_write_keeps_its_last_value(thread: SqliteSaver, channel: str) -> None:
    thread.put_writes(at(number=1), [(channel, "first")], "task")
    thread.put_writes(at(number=1), [(channel, "second")], "task")
    assert writes_of(thread, 1) == [(channel, "second")]


def test_a_mixed_batch_replaces_the_special_and_keeps_the_regular(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1), [(RESUME, 1), ("a", 1)], "task")
    thread.put_writes(at(number=1), [(RESUME, 2), ("a", 2)], "task")
    assert writes_of(thread, 1) == [(RESUME, 2), ("a", 1)]


def test_a_special_write_never_displaces_a_regular_one(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1), [("a", 1), (ERROR, "e"), ("b", 2)], "task")
    thread.put_writes(at(number=1), [(INTERRUPT, "i")], "task")
    assert writes_of(thread, 1) == [(INTERRUPT, "i"), (ERROR, "e"), ("a", 1), ("b", 2)]


def test_writes_are_sorted_by_path_then_task_then_number(thread: SqliteSaver) -> None:
    many = [("x", index) for index in range(11)]
    thread.put_writes(at(number=1), [("late path", 0)], "a", "~b")
    thread.put_writes(at(number=1), many, "z", "~a")
    thread.put_writes(at(number=1), [("early task", 0)], "y", "~a")
    expected = [("early task", 0), *many, ("late path", 0)]
    assert writes_of(thread, 1) == expected


def test_one_task_under_two_paths_is_sorted_by_each(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1), [("a", 1)], "task", "~2")
    thread.put_writes(at(number=1), [("a", 1), ("b", 2)], "task", "~1")
    assert writes_of(thread, 1) == [("b", 2), ("a", 1)]


def test_writes_may_come_before_their_checkpoint_and_after_its_children(
    any_saver: SqliteSaver,
) -> None:
    any_saver.put_writes(at(number=1), [("early", 1)], "a")
    assert any_saver.get_tuple(at(number=1)) is None
    put(any_saver, 1)
    put(any_saver, 2, parent=1)
    any_saver.put_writes(at(number=1), [("late", 2)], "b")
    assert writes_of(any_saver, 1) == [("early", 1), ("late", 2)]
    assert writes_of(any_saver, 2) == []


def test_writes_show_only_on_their_own_checkpoint(any_saver: SqliteSaver) -> None:
    places: list[dict[str, Any]] = [
        {},
        {"number": 2},
        {"thread_id": "other"},
        {"namespace": "node:task"},
    ]
    for place in places:
        place = {"number": 1, **place}
        put(any_saver, place.pop("number"), **place)
    any_saver.put_writes(at(number=1), [("a", 1)], "task")
    assert writes_of(any_saver, 1) == [("a", 1)]
    assert writes_of(any_saver, 2) == []
    assert got(any_saver, 1, "other").pending_writes == []
    assert got(any_saver, 1, namespace="node:task").pending_writes == []


def test_list_shows_the_writes_that_get_tuple_shows(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1), [("a", 1), (ERROR, "e")], "task")
    assert [each.pending_writes for each in thread.list(at())] == [got(thread, 1).pending_writes]


def test_an_empty_batch_changes_nothing(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1), [], "task")
    assert writes_of(thread, 1) == []


def test_the_namespace_defaults_to_the_root(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1, namespace=None), [("a", 1)], "task")
    assert writes_of(thread, 1) == [("a", 1)]


def test_a_config_without_a_checkpoint_is_refused(saver: SqliteSaver) -> None:
    with pytest.raises(ValueError, match="the config of thread 'thread' has no checkpoint_id"):
        saver.put_writes(at(), [("a", 1)], "task")


def test_an_exception_comes_back_as_its_text(thread: SqliteSaver) -> None:
    thread.put_writes(at(number=1), [(ERROR, ValueError("why"))], "task")
    assert writes_of(thread, 1) == [(ERROR, "ValueError('why')")]


def test_a_large_batch_is_stored(saver: SqliteSaver) -> None:
    put(saver, 1)
    saver.put_writes(at(number=1), [("a", index) for index in range(20_000)], "task")
    assert [value for _, value in writes_of(saver, 1)] == list(range(20_000))


def test_writes_that_wait_for_their_checkpoint_are_none(any_saver: SqliteSaver) -> None:
    any_saver.put_writes(at(number=1), [("a", 1)], "task")
    assert any_saver.get_tuple(at(number=1)) is None
    assert any_saver.get_tuple(at()) is None
    assert list(any_saver.list(at())) == []
    put(any_saver, 1)
    assert writes_of(any_saver, 1) == [("a", 1)]
