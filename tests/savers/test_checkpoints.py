"""Putting checkpoints and reading them back."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers import SqliteSaver
from tests.savers.helpers import at, checkpoint_id, got, make, numbers, put, values_of


class StrictText(str):
    """Text of a type of its own."""


def count(saver: SqliteSaver, table: str) -> int:
    assert saver.path is not None
    connection = sqlite3.connect(saver.path)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


def test_a_checkpoint_reads_back_as_it_was_put(any_saver: SqliteSaver) -> None:
    checkpoint = make(1, {"a": {"k": [1, None]}, 'b "quoted" .$': "x", "none": None})
    address = any_saver.put(at(), checkpoint, {"source": "input", "step": -1}, {})
    assert address == at(number=1)
    found = any_saver.get_tuple(address)
    assert found is not None
    assert found.checkpoint == checkpoint
    assert found.config == address
    assert found.metadata == {"source": "input", "step": -1}
    assert found.parent_config is None
    assert found.pending_writes == []


def test_an_unchanged_channel_is_stored_once(saver: SqliteSaver) -> None:
    put(saver, 1, {"big": "x" * 20_000, "n": 1})
    for number in range(2, 12):
        versions = {"big": 1, "n": number}
        values = {"big": "x" * 20_000, "n": number}
        put(saver, number, values, parent=number - 1, versions=versions, new={"n": number})
    assert values_of(saver, 11) == {"big": "x" * 20_000, "n": 11}
    # The small values stand in the map of channels.
    assert count(saver, "checkpoint_values") == 1


SMALL_OR_LARGE: list[Callable[[str], Any]] = [lambda text: text, lambda text: [text]]


def test_an_unchanged_channel_is_carried_over_if_its_value_is_not_given(
    any_saver: SqliteSaver,
) -> None:
    put(any_saver, 1, {"a": 1, "b": "kept"})
    put(any_saver, 2, {"a": 2}, parent=1, versions={"a": 2, "b": 1}, new={"a": 2})
    assert values_of(any_saver, 2) == {"a": 2, "b": "kept"}


def test_a_channel_with_a_new_version_and_no_value_is_absent(any_saver: SqliteSaver) -> None:
    put(any_saver, 1, {"a": 1})
    put(any_saver, 2, {}, parent=1, versions={"a": 2}, new={"a": 2})
    put(any_saver, 3, {}, parent=2, versions={"a": 2}, new={})
    assert [values_of(any_saver, number) for number in (1, 2, 3)] == [{"a": 1}, {}, {}]


def test_a_value_without_a_version_is_absent(any_saver: SqliteSaver) -> None:
    put(any_saver, 1, {"a": 1, "b": 2}, versions={"a": 1})
    assert values_of(any_saver, 1) == {"a": 1}


@pytest.mark.parametrize("value", SMALL_OR_LARGE)
def test_two_forks_that_mint_the_same_version_keep_their_values(
    any_saver: SqliteSaver, value: Callable[[str], Any]
) -> None:
    left, right = value("left"), value("right")
    put(any_saver, 1, {"a": 0})
    put(any_saver, 2, {"a": left}, parent=1, versions={"a": 2})
    put(any_saver, 3, {"a": right}, parent=1, versions={"a": 2})
    put(any_saver, 4, {}, parent=2, versions={"a": 2}, new={})
    put(any_saver, 5, {}, parent=3, versions={"a": 2}, new={})
    found = [values_of(any_saver, number)["a"] for number in (2, 3, 4, 5)]
    assert found == [left, right, left, right]


def test_a_fork_that_emptied_a_channel_does_not_show_the_other_forks_value(
    any_saver: SqliteSaver,
) -> None:
    put(any_saver, 1, {"a": 0})
    put(any_saver, 2, {"a": ["left"]}, parent=1, versions={"a": 2})
    put(any_saver, 3, {}, parent=1, versions={"a": 2}, new={"a": 2})
    # A copy of the emptied one, as LangGraph makes it: nothing new, the grandparent as parent.
    put(any_saver, 4, {}, parent=1, versions={"a": 2}, new={})
    assert values_of(any_saver, 3) == {}
    assert values_of(any_saver, 4) == {}


def test_a_copy_fork_reads_back_whole(saver: SqliteSaver) -> None:
    put(saver, 1, {"a": 0})
    put(saver, 2, {"a": "x", "b": [1]}, parent=1, versions={"a": 2, "b": 2})
    put(saver, 9, {"a": "x", "b": [2]}, parent=1, versions={"a": 2, "b": 2})
    stored = count(saver, "checkpoint_values")
    put(saver, 3, {"a": "x", "b": [1]}, parent=1, versions={"a": 2, "b": 2}, new={})
    assert values_of(saver, 3) == {"a": "x", "b": [1]}
    assert count(saver, "checkpoint_values") == stored


def test_a_child_that_arrives_before_its_parent_is_whole(any_saver: SqliteSaver) -> None:
    put(any_saver, 2, {"a": 1, "b": 2}, parent=1, versions={"a": 1, "b": 2}, new={"b": 2})
    put(any_saver, 1, {"a": 1})
    assert values_of(any_saver, 2) == {"a": 1, "b": 2}
    assert got(any_saver, 2).parent_config == at(number=1)


@pytest.mark.parametrize("value", SMALL_OR_LARGE)
def test_putting_an_id_again_replaces_it_and_changes_no_other(
    saver: SqliteSaver, value: Callable[[str], Any]
) -> None:
    first, second, third = map(value, ("first", "second", "third"))
    put(saver, 1, {"a": first})
    saver.put_writes(at(number=1), [("a", 1)], "task")
    put(saver, 2, {"a": first}, parent=1, versions={"a": 1}, new={})
    put(saver, 1, {"a": second}, metadata={"step": 7})
    put(saver, 1, {"a": third}, metadata={"step": 8})
    put(saver, 3, {"a": third}, parent=1, versions={"a": 1}, new={})
    assert values_of(saver, 1) == values_of(saver, 3) == {"a": third}
    assert got(saver, 1).metadata == {"step": 8}
    assert values_of(saver, 2) == {"a": first}
    assert got(saver, 1).pending_writes == [("task", "a", 1)]
    assert numbers(saver) == [3, 2, 1]
    # "second" is read by nobody any more.
    assert count(saver, "checkpoint_values") == (2 if isinstance(first, list) else 0)


def test_putting_the_same_again_adds_nothing(saver: SqliteSaver) -> None:
    for _ in range(3):
        put(saver, 1, {"a": [1], "b": {}, "c": None})
    assert numbers(saver) == [1]
    assert count(saver, "checkpoint_values") == 2


@pytest.mark.parametrize("none", [None, ""])
def test_no_checkpoint_id_means_latest_and_no_parent(any_saver: SqliteSaver, none: Any) -> None:
    config = at()
    config["configurable"]["checkpoint_id"] = none
    for number in (2, 3, 1):
        any_saver.put(config, make(number), {}, {})
    latest = any_saver.get_tuple(config)
    assert latest is not None
    assert latest.checkpoint["id"] == checkpoint_id(3)
    assert latest.parent_config is None
    assert numbers(any_saver, config) == [3, 2, 1]


@pytest.mark.parametrize(
    "ids",
    [
        ("a", "A"),
        ("a", "a "),
        ("1", "01"),
        ("é", "e\u0301"),
        ("a\0b", "a\0c"),
        ("a", "a\0"),
        ("a|b", "a"),
        ("%", "_"),
        ("'; DROP TABLE checkpoints; --", "x"),
        ("../a", "a"),
    ],
)
def test_thread_ids_are_never_confused(any_saver: SqliteSaver, ids: tuple[str, str]) -> None:
    one, other = ids
    put(any_saver, 1, {"a": one}, thread_id=one)
    put(any_saver, 1, {"a": other}, thread_id=other)
    any_saver.put_writes(at(one, 1), [("a", one)], "task")
    assert values_of(any_saver, 1, one) == {"a": one}
    assert got(any_saver, 1, other).pending_writes == []
    assert len(list(any_saver.list(at(one, namespace=None)))) == 1
    any_saver.delete_thread(one)
    assert any_saver.get_tuple(at(one)) is None
    assert values_of(any_saver, 1, other) == {"a": other}


def test_namespaces_stay_apart(any_saver: SqliteSaver) -> None:
    namespaces = ["", "node", "node:task", "node:task|inner:task", "node:task|1"]
    for namespace in namespaces:
        put(any_saver, 1, {"a": namespace}, namespace=namespace)
    for namespace in namespaces:
        assert values_of(any_saver, 1, namespace=namespace) == {"a": namespace}
    assert any_saver.get_tuple(at(namespace="nod")) is None


def test_config_entries_join_the_metadata(any_saver: SqliteSaver) -> None:
    config = at()
    config["metadata"] = {"user": "ada", "step": 99, "object": object()}
    config["configurable"] |= {"tenant": 7, "__pregel_runtime": object(), "checkpoint_map": {}}
    any_saver.put(config, make(1), {"step": 1}, {})
    assert got(any_saver, 1).metadata == {"step": 1, "user": "ada", "tenant": 7}


def test_metadata_that_json_cannot_hold_comes_back(any_saver: SqliteSaver) -> None:
    metadata: dict[str, Any] = {
        "writes": {"node": {1: "integer key"}},
        "bytes": b"\x00\xff",
        "infinite": float("inf"),
        "pair": (1, 2),
        "looks stored": {"__saverproof_serialized__": ["msgpack", ""]},
    }
    put(any_saver, 1, metadata=metadata)
    assert got(any_saver, 1).metadata == {**metadata, "pair": [1, 2]}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_older_checkpoints_are_readable(any_saver: SqliteSaver, version: int) -> None:
    checkpoint: Any = {
        "v": version,
        "id": checkpoint_id(1),
        "ts": "2024-01-01T00:00:00+00:00",
        "channel_values": {"a": 1},
        "channel_versions": {"a": "00000000000000000000000000000002.0.5"},
        "versions_seen": {},
        "pending_sends": [["node", {"x": 1}]],
    }
    any_saver.put(at(), checkpoint, {}, checkpoint["channel_versions"])
    assert got(any_saver, 1).checkpoint == checkpoint


@pytest.mark.parametrize(
    "value",
    [None, True, False, 0, -(2**63), 2**64 - 1, 0.1, -0.0, 1e300, "", "x" * 64, "\0", "\U0001f600"],
)
def test_a_small_value_comes_back_of_its_type(any_saver: SqliteSaver, value: Any) -> None:
    put(any_saver, 1, {"a": value})
    put(any_saver, 2, {}, parent=1, versions={"a": 1}, new={})
    for number in (1, 2):
        found = values_of(any_saver, number)["a"]
        assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.parametrize("value", [2**64, float("inf"), "x" * 65, b"", StrictText("text")])
def test_what_is_not_small_and_plain_is_left_to_the_serializer(
    saver: SqliteSaver, value: Any
) -> None:
    class Recording(JsonPlusSerializer):
        def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
            asked.append(obj)
            return super().dumps_typed(obj if isinstance(obj, dict) else "stands for it")

    asked: list[Any] = []
    saver.serde = Recording()
    put(saver, 1, {"a": value, "b": None})
    assert value in asked
    # Any serializer but LangGraph's own is asked for small values too.
    assert None in asked
    assert values_of(saver, 1) == {"a": "stands for it", "b": "stands for it"}


def test_what_was_put_last_is_not_trusted(path: Path) -> None:
    with SqliteSaver.open(path) as one, SqliteSaver.open(path) as other:
        put(one, 1, {"a": ["old"], "b": [1]})
        other.delete_thread("thread")
        put(other, 1, {"a": ["new"], "b": [1]})
        put(one, 2, {"c": [2]}, parent=1, versions={"a": 1, "b": 1, "c": 2}, new={"c": 2})
        assert values_of(one, 2) == {"a": ["new"], "b": [1], "c": [2]}
        other.delete_thread("thread")
        whole = {"a": ["new"], "b": [1], "c": [2]}
        put(one, 3, whole, parent=2, versions={"a": 1, "b": 1, "c": 2}, new={})
        assert values_of(one, 3) == whole
        put(other, 4, {"d": [4]}, thread_id="thread")
        put(one, 4, {"d": [5]}, parent=3)
        assert values_of(other, 4) == {"d": [5]}
        assert count(one, "checkpoint_values") == 4


def test_only_so_many_threads_are_remembered(saver: SqliteSaver) -> None:
    for number in range(200):
        put(saver, 1, {"a": [number]}, thread_id=str(number))
    for number in range(200):
        name = str(number)
        put(saver, 2, {}, thread_id=name, parent=1, versions={"a": 1}, new={})
        assert values_of(saver, 2, name) == {"a": [number]}


def test_versions_increase_and_keep_their_form(saver: SqliteSaver) -> None:
    first = saver.get_next_version(None, None)
    assert 0 < first < saver.get_next_version(first, None)
    text = "00000000000000000000000000000009.0.5"
    assert text < saver.get_next_version(text, None) < "00000000000000000000000000000011"
    assert saver.get_next_version(1.5, None) == 2.5


def test_a_value_that_cannot_be_serialized_is_refused_whole(any_saver: SqliteSaver) -> None:
    with pytest.raises(TypeError):
        put(any_saver, 1, {"a": 1, "b": object()})
    with pytest.raises(TypeError):
        any_saver.put_writes(at(number=1), [("a", 1), ("b", object())], "task")
    assert numbers(any_saver) == []
    put(any_saver, 1)
    assert got(any_saver, 1).pending_writes == []


def test_a_value_that_must_be_stored_late_and_cannot_be_leaves_nothing(
    any_saver: SqliteSaver,
) -> None:
    with pytest.raises(TypeError):
        put(any_saver, 1, {"a": 1, "b": object()}, new={"a": 1})
    assert numbers(any_saver) == []


def test_what_was_given_or_returned_may_be_changed_freely(any_saver: SqliteSaver) -> None:
    checkpoint = make(1, {"a": [1]})
    metadata: Any = {"tags": ["x"]}
    any_saver.put(at(), checkpoint, metadata, {"a": 1})
    checkpoint["channel_values"]["a"].append(2)
    metadata["tags"].append("y")
    first = got(any_saver, 1)
    first.checkpoint["channel_values"]["a"].append(3)
    first.checkpoint["channel_versions"]["a"] = 9
    again = got(any_saver, 1)
    assert again.checkpoint["channel_values"] == {"a": [1]}
    assert again.checkpoint["channel_versions"] == {"a": 1}
    assert again.metadata == {"tags": ["x"]}


def test_checkpoints_of_a_list_share_no_value_that_can_change(any_saver: SqliteSaver) -> None:
    put(any_saver, 1, {"a": [1], "s": "text"})
    put(any_saver, 2, {"a": [1], "s": "text"}, parent=1, versions={"a": 1, "s": 1}, new={})
    one, other = any_saver.list(at())
    one.checkpoint["channel_values"]["a"].append(2)
    assert other.checkpoint["channel_values"] == {"a": [1], "s": "text"}


def test_the_arguments_are_left_as_they_were(any_saver: SqliteSaver) -> None:
    config = at()
    config["metadata"] = {"user": "ada"}
    checkpoint, metadata, new = make(1, {"a": 1}), {"step": 1}, {"a": 1}
    any_saver.put(config, checkpoint, metadata, new)  # type: ignore[arg-type]
    assert config == {**at(), "metadata": {"user": "ada"}}
    assert checkpoint == make(1, {"a": 1})
    assert metadata == {"step": 1}
    assert new == {"a": 1}


def test_a_config_without_a_thread_is_refused(saver: SqliteSaver) -> None:
    with pytest.raises(ValueError, match="no thread_id; found the keys \\['checkpoint_ns'\\]"):
        saver.get_tuple({"configurable": {"checkpoint_ns": ""}})


def test_reading_the_unknown_leaves_no_trace(saver: SqliteSaver, path: Path) -> None:
    watcher = sqlite3.connect(path)
    before = watcher.execute("PRAGMA data_version").fetchone()
    assert saver.get_tuple(at("nobody")) is None
    assert saver.get_tuple(at("nobody", 1)) is None
    assert list(saver.list(at("nobody"))) == []
    assert saver.get_delta_channel_history(config=at("nobody"), channels=["a"]) == {
        "a": {"writes": []}
    }
    assert watcher.execute("PRAGMA data_version").fetchone() == before
    watcher.close()


def test_rows_are_readable_by_plain_sql(saver: SqliteSaver, path: Path) -> None:
    put(saver, 1, {"a": 1}, metadata={"source": "input", "step": -1, "run_id": "r"})
    connection = sqlite3.connect(path)
    row = connection.execute(
        """SELECT thread_id, checkpoint_id, json_extract(metadata, '$.step'), run_id,
           created_at LIKE '20__-__-__T__:__:__.___Z' FROM checkpoints"""
    ).fetchone()
    connection.close()
    assert row == ("thread", checkpoint_id(1), -1, "r", 1)
