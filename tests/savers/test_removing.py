"""Deleting, pruning and copying threads."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from saverproof_savers import SqliteSaver
from tests.savers.helpers import at, checkpoint_id, got, numbers, put, values_of, writes_of


def rows(saver: SqliteSaver, thread_id: str) -> list[int]:
    """How many checkpoints, writes and values the tables hold of a thread."""

    def look(cursor: sqlite3.Cursor) -> list[int]:
        tables = (saver.tables.checkpoints, saver.tables.writes, saver.tables.values)
        return [
            cursor.execute(
                f'SELECT count(*) FROM "{table}" WHERE thread_id = ?', (thread_id,)
            ).fetchone()[0]
            for table in tables
        ]

    return saver.transact(look)


@pytest.fixture
def thread(any_saver: SqliteSaver) -> SqliteSaver:
    """Runs r1 (1, 2) and r2 (3) in the root, r1 (1) in a namespace; another thread of r1."""
    put(any_saver, 1, {"a": 1, "b": ["by r1"]}, metadata={"run_id": "r1"})
    put(any_saver, 2, {"a": 2}, parent=1, metadata={"run_id": "r1"}, versions={"a": 2, "b": 1})
    put(
        any_saver,
        3,
        {"a": 3},
        parent=2,
        metadata={"run_id": "r2"},
        versions={"a": 3, "b": 1},
        new={"a": 3},
    )
    put(any_saver, 1, {"a": 1}, namespace="node:task", metadata={"run_id": "r1"})
    put(any_saver, 1, {"a": "other"}, thread_id="other", metadata={"run_id": "r1"})
    for number in (1, 3, 99):
        any_saver.put_writes(at(number=number), [("a", number)], "task")
    return any_saver


def test_a_deleted_thread_is_gone_with_all_that_belongs_to_it(thread: SqliteSaver) -> None:
    thread.delete_thread("thread")
    assert numbers(thread) == []
    assert rows(thread, "thread") == [0, 0, 0]
    assert values_of(thread, 1, "other") == {"a": "other"}


def test_nothing_of_before_a_delete_comes_back(thread: SqliteSaver) -> None:
    thread.delete_thread("thread")
    put(thread, 2, {}, parent=1, versions={"a": 1, "b": 1}, new={})
    assert values_of(thread, 2) == {}
    assert writes_of(thread, 2) == []
    put(thread, 99)
    assert writes_of(thread, 99) == []


@pytest.mark.parametrize(
    "remove",
    [
        lambda saver: saver.delete_thread("thread"),
        lambda saver: saver.delete_for_runs(["r2"]),
        lambda saver: saver.prune(["thread"], strategy="delete"),
    ],
    ids=["delete_thread", "delete_for_runs", "prune"],
)
def test_no_value_of_what_is_removed_stays_in_memory(
    thread: SqliteSaver, remove: Callable[[SqliteSaver], None]
) -> None:
    assert thread.recent.get(("thread", "")) is not None
    remove(thread)
    assert thread.recent.get(("thread", "")) is None
    assert thread.recent.get(("other", "")) is not None


def test_deleting_an_unknown_thread_is_fine(thread: SqliteSaver) -> None:
    before = list(thread.list(None))
    thread.delete_thread("nobody")
    assert list(thread.list(None)) == before != []


def test_runs_are_deleted_and_what_others_read_stays(thread: SqliteSaver) -> None:
    put(thread, 3, {}, parent=2, metadata={"run_id": "r2"}, versions={"a": 3, "b": 1}, new={})
    thread.delete_for_runs(["r1", "unknown"])
    assert numbers(thread) == [3]
    assert numbers(thread, at("other", namespace=None)) == []
    assert writes_of(thread, 3) == [("a", 3)]
    put(thread, 1)
    assert writes_of(thread, 1) == []


def test_values_first_stored_by_a_deleted_run_stay_for_those_who_read_them(
    saver: SqliteSaver,
) -> None:
    put(saver, 1, {"a": [1], "b": ["by r1"], "c": ["only r1"]}, metadata={"run_id": "r1"})
    versions = {"a": 2, "b": 1}
    put(saver, 2, {"a": [2]}, parent=1, metadata={"run_id": "r2"}, versions=versions, new={"a": 2})
    saver.delete_for_runs(["r1"])
    assert values_of(saver, 2) == {"a": [2], "b": ["by r1"]}
    assert rows(saver, "thread") == [1, 0, 2]


def test_only_a_text_is_a_run_id(saver: SqliteSaver) -> None:
    put(saver, 1, metadata={"run_id": 5})
    saver.delete_for_runs(["5"])
    saver.delete_for_runs([])
    assert numbers(saver) == [1]


def test_pruning_keeps_the_newest_of_each_namespace_whole(any_saver: SqliteSaver) -> None:
    for number in (1, 2, 3):
        put(any_saver, number, {"a": [number], "b": ["old"]}, parent=number - 1 or None)
        put(any_saver, number, {"a": [number]}, namespace="child:1")
        any_saver.put_writes(at(number=number), [("a", number)], "task")
    put(any_saver, 1, {"a": 1}, thread_id="other")
    put(any_saver, 2, {"a": 2}, thread_id="other")
    any_saver.prune(["thread", "unknown", "thread"])
    assert numbers(any_saver, at()) == [3]
    assert numbers(any_saver, at(namespace="child:1")) == [3]
    assert values_of(any_saver, 3) == {"a": [3], "b": ["old"]}
    assert writes_of(any_saver, 3) == [("a", 3)]
    assert rows(any_saver, "thread") == [2, 1, 3]
    assert numbers(any_saver, at("other")) == [2, 1]


def test_pruning_drops_the_namespaces_of_calls_from_pruned_checkpoints(
    any_saver: SqliteSaver,
) -> None:
    for number in (1, 2, 3):
        put(any_saver, number)
    parents: dict[str, dict[str, Any]] = {
        name: {"parents": {"": checkpoint_id(number)}}
        for name, number in (("old:1", 1), ("new:1", 3), ("old:1|inner:2", 1), ("memory", 1))
    }
    for namespace, metadata in parents.items():
        put(any_saver, 7, namespace=namespace, metadata=metadata)
    any_saver.prune(["thread"])
    kept = {each.config["configurable"]["checkpoint_ns"] for each in any_saver.list(None)}
    assert kept == {"", "new:1", "memory"}


def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(any_saver: SqliteSaver) -> None:
    put(any_saver, 1, {"log": ["too old"]})
    put(any_saver, 2, {"log": ["snapshot"]}, parent=1, versions={"log": 2})
    for number in (3, 4, 5):
        put(any_saver, number, {}, parent=number - 1, versions={"log": number})
    put(any_saver, 6, {}, parent=2, versions={"log": 3})
    put(any_saver, 7, {}, parent=5, versions={"log": 5, "branch:to:x": 1}, new={})
    for number in (1, 2, 3, 4, 6):
        any_saver.put_writes(at(number=number), [("log", number)], "task")
    before = any_saver.get_delta_channel_history(config=at(), channels=["log"])
    any_saver.prune(["thread"])
    assert numbers(any_saver, at()) == [7, 5, 4, 3, 2]
    assert any_saver.get_delta_channel_history(config=at(), channels=["log"]) == before
    assert before["log"]["writes"] == [("task", "log", number) for number in (2, 3, 4)]


def test_a_trigger_without_a_value_keeps_nothing_unless_it_is_counted_as_delta(
    any_saver: SqliteSaver,
) -> None:
    counters = {"counters_since_delta_snapshot": {"branch:log": [1, 1]}}
    for thread_id, metadata in (("plain", {}), ("delta", counters)):
        put(any_saver, 1, {"branch:log": None}, thread_id=thread_id)
        versions = {"branch:log": 2}
        put(
            any_saver,
            2,
            {},
            thread_id=thread_id,
            parent=1,
            versions=versions,
            metadata=metadata,
        )
    any_saver.prune(["plain", "delta"])
    assert numbers(any_saver, at("plain")) == [2]
    assert numbers(any_saver, at("delta")) == [2, 1]


def test_pruning_ends_on_a_parent_chain_that_is_a_loop(saver: SqliteSaver) -> None:
    put(saver, 1, {}, parent=2, versions={"log": 1})
    put(saver, 2, {}, parent=1, versions={"log": 2})
    saver.prune(["thread"])
    assert numbers(saver) == [2, 1]


def test_the_strategy_delete_keeps_nothing(thread: SqliteSaver) -> None:
    thread.prune(["thread"], strategy="delete")
    assert rows(thread, "thread") == [0, 0, 0]
    assert numbers(thread, at("other")) == [1]


def test_an_unknown_strategy_is_refused(thread: SqliteSaver) -> None:
    with pytest.raises(ValueError, match="found strategy 'keep_two', expected one of keep_latest"):
        thread.prune(["thread"], strategy="keep_two")
    assert numbers(thread, at()) == [3, 2, 1]


def test_a_copy_is_complete_and_independent(thread: SqliteSaver) -> None:
    thread.copy_thread("thread", "copy")

    def shown(thread_id: str) -> list[Any]:
        found = thread.list(at(thread_id, namespace=None))
        return [(each.checkpoint, each.metadata, each.pending_writes) for each in found]

    original = shown("thread")
    assert shown("copy") == original
    assert got(thread, 3, "copy").parent_config == at("copy", 2)
    put(thread, 99, thread_id="copy")
    assert got(thread, 99, "copy").pending_writes == [("task", "a", 99)]
    thread.delete_thread("copy")
    assert shown("thread") == original
    thread.copy_thread("thread", "copy")
    thread.delete_thread("thread")
    assert shown("copy") == original


def test_copying_onto_data_is_refused_and_onto_itself_does_nothing(thread: SqliteSaver) -> None:
    with pytest.raises(ValueError, match="the target thread 'other' holds data already"):
        thread.copy_thread("thread", "other")
    thread.copy_thread("thread", "thread")
    thread.copy_thread("nobody", "empty")
    assert numbers(thread, at()) == [3, 2, 1]
    assert numbers(thread, at("other")) == [1]
