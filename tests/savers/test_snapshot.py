"""The saver whose whole state is one row."""

import asyncio
import copy
import sqlite3
import stat
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof_savers import SnapshotSqliteSaver
from tests.savers.helpers import at, make, number_of, numbers, put, values_of, writes_of


@pytest.fixture
def snapshot(path: Path) -> Iterator[SnapshotSqliteSaver]:
    with SnapshotSqliteSaver(path) as saver:
        yield saver


def test_the_state_is_one_row_that_survives(path: Path) -> None:
    with SnapshotSqliteSaver(path) as saver:
        put(saver, 1, {"a": [1, b"x", None]})
        put(saver, 2, {"a": 2}, parent=1)
        saver.put_writes(at(number=2), [("a", 1)], "task", "path")
        saver.put_writes(at(number=9), [("early", 1)], "task")
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT id, encoding, revision FROM checkpoint_state").fetchall()
    assert found == [(1, "msgpack/1", 5)]
    with SnapshotSqliteSaver(path) as saver:
        assert numbers(saver) == [2, 1]
        assert values_of(saver, 1) == {"a": [1, b"x", None]}
        assert writes_of(saver, 2) == [("a", 1)]
        put(saver, 9)
        assert writes_of(saver, 9) == [("early", 1)]
        saver.delete_thread("thread")
    with SnapshotSqliteSaver(path) as saver:
        assert numbers(saver) == []


def test_listing_is_newest_first_and_filters_as_the_main_saver(
    snapshot: SnapshotSqliteSaver,
) -> None:
    for number, flag in ((2, True), (3, 1), (1, True)):
        put(snapshot, number, metadata={"flag": flag})
    put(snapshot, 4, namespace="node:task", metadata={"flag": True})
    assert numbers(snapshot) == [4, 3, 2, 1]
    assert numbers(snapshot, filter={"flag": True}) == [4, 2, 1]
    assert numbers(snapshot, filter={"flag": True}, limit=2, before=at(number=4)) == [2, 1]
    assert numbers(snapshot, limit=0) == []
    assert [number_of(each) for each in snapshot.list(None)] == [4, 3, 2, 1]


def test_any_operation_may_be_called_between_two_items(snapshot: SnapshotSqliteSaver) -> None:
    for number in (1, 2, 3):
        put(snapshot, number)
    for each in snapshot.list(at()):
        put(snapshot, number_of(each) + 10)
    assert numbers(snapshot) == [13, 12, 11, 3, 2, 1]


def test_two_savers_on_one_file_see_each_other(path: Path) -> None:
    with SnapshotSqliteSaver(path) as one, SnapshotSqliteSaver(path) as other:
        put(one, 1, {"a": 1})
        assert values_of(other, 1) == {"a": 1}
        put(other, 2, {"a": 2})
        put(one, 3, {"a": 3})
        assert numbers(one) == numbers(other) == [3, 2, 1]


def test_a_write_that_fails_leaves_nothing(snapshot: SnapshotSqliteSaver, path: Path) -> None:
    put(snapshot, 1)
    with pytest.raises(TypeError):
        snapshot.put_writes(at(number=1), [("a", 1), ("b", object())], "task")
    assert writes_of(snapshot, 1) == []
    with closing(sqlite3.connect(path)) as other:
        other.execute(
            "CREATE TRIGGER no BEFORE UPDATE ON checkpoint_state "
            "BEGIN SELECT RAISE(ABORT, 'stopped'); END"
        )
        other.commit()
        with pytest.raises(sqlite3.IntegrityError, match=f"{path}: stopped"):
            put(snapshot, 2)
        assert numbers(snapshot) == [1]
        other.execute("DROP TRIGGER no")
        other.commit()
    put(snapshot, 3)
    assert numbers(snapshot) == [3, 1]


def test_reading_the_unknown_leaves_no_trace(snapshot: SnapshotSqliteSaver, path: Path) -> None:
    assert snapshot.get_tuple(at("nobody")) is None
    put(snapshot, 1)
    with closing(sqlite3.connect(path)) as connection:
        stored = connection.execute("SELECT storage FROM checkpoint_state").fetchone()[0]
    assert b"nobody" not in stored


def test_an_empty_batch_writes_nothing(snapshot: SnapshotSqliteSaver, path: Path) -> None:
    put(snapshot, 1)
    snapshot.put_writes(at(number=1), [], "task")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT revision FROM checkpoint_state").fetchone()[0] == 2


def test_missing_folders_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c" / "checkpoints.db"
    with SnapshotSqliteSaver(path) as saver:
        assert saver.path == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    made = (path.parents[2], path.parents[1], path.parent)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in made] == [0o700] * 3


def test_it_also_works_in_memory() -> None:
    with SnapshotSqliteSaver(":memory:") as saver:
        put(saver, 1, {"a": 1})
        assert values_of(saver, 1) == {"a": 1}
        assert saver.path is None


@pytest.mark.parametrize("journal_mode", ["WAL", "DELETE", "TRUNCATE", "PERSIST"])
def test_the_journal_mode_is_an_option(
    path: Path, journal_mode: str, connections: list[sqlite3.Connection]
) -> None:
    with SnapshotSqliteSaver(path, journal_mode, busy_timeout_ms=100) as saver:
        put(saver, 1, {"a": 1})
        found = [c.execute("PRAGMA journal_mode").fetchone()[0] for c in connections]
        # Only the connection that writes keeps a journal.
        assert journal_mode.lower() in found
        assert values_of(saver, 1) == {"a": 1}


@pytest.mark.parametrize("journal_mode", ["OFF", "MEMORY", "wal"])
def test_a_journal_mode_that_can_tear_is_refused(path: Path, journal_mode: str) -> None:
    with pytest.raises(ValueError, match=f"journal_mode: found '{journal_mode}', expected one of"):
        SnapshotSqliteSaver(path, journal_mode)


def test_a_clone_has_its_own_memory_and_the_same_store(snapshot: SnapshotSqliteSaver) -> None:
    put(snapshot, 1)
    clone = copy.copy(snapshot)
    put(clone, 2)
    put(snapshot, 3)
    assert numbers(clone) == numbers(snapshot) == [3, 2, 1]
    clone.close()
    assert numbers(snapshot) == [3, 2, 1]
    snapshot.close()
    snapshot.close()
    with pytest.raises(sqlite3.ProgrammingError, match="the saver is closed"):
        numbers(snapshot)


@pytest.mark.skipif(
    not hasattr(BaseCheckpointSaver, "get_delta_channel_history"),
    reason="langgraph-checkpoint before 4.1",
)
def test_the_delta_history_is_that_of_memory(snapshot: SnapshotSqliteSaver) -> None:
    put(snapshot, 1, {"log": [0]})
    put(snapshot, 2, {}, parent=1, versions={"log": 2})
    snapshot.put_writes(at(number=1), [("log", 1)], "task")
    expected = {"log": {"seed": [0], "writes": [("task", "log", 1)]}}
    config, channels = at(), ["log"]
    assert snapshot.get_delta_channel_history(config=config, channels=channels) == expected
    found = asyncio.run(snapshot.aget_delta_channel_history(config=config, channels=channels))
    assert found == expected


@pytest.mark.skipif(
    not hasattr(BaseCheckpointSaver, "get_delta_channel_history"),
    reason="langgraph-checkpoint before 4.1",
)
def test_the_delta_history_ends_where_the_parents_run_in_a_loop(
    snapshot: SnapshotSqliteSaver,
) -> None:
    put(snapshot, 1)
    put(snapshot, 2, parent=1)
    put(snapshot, 3, parent=2)
    put(snapshot, 1, parent=2)
    for number in (1, 2):
        snapshot.put_writes(at(number=number), [("log", number)], "task")

    def history(number: int) -> Any:
        config = at(number=number)
        return snapshot.get_delta_channel_history(config=config, channels=["log"])["log"]

    assert history(2) == {"writes": [("task", "log", 1)]}
    assert history(3) == {"writes": [("task", "log", 1), ("task", "log", 2)]}
    assert history(9) == {"writes": []}


def test_async_methods_answer_as_the_sync_ones(snapshot: SnapshotSqliteSaver) -> None:
    async def main() -> None:
        await snapshot.aput(at(), make(1, {"a": 1}), {}, {"a": 1})
        await snapshot.aput_writes(at(number=1), [("a", 1)], "task")
        assert await snapshot.aget_tuple(at()) == snapshot.get_tuple(at())
        assert [each async for each in snapshot.alist(at())] == list(snapshot.list(at()))
        await snapshot.adelete_thread("thread")
        assert await snapshot.aget_tuple(at()) is None

    asyncio.run(main())


def test_what_runs_and_pruning_leave_is_whole(snapshot: SnapshotSqliteSaver) -> None:
    put(snapshot, 1, {"a": 1, "b": 1}, metadata={"run_id": "old"})
    put(snapshot, 2, {"a": 1, "b": 2}, parent=1, versions={"b": 2})
    put(snapshot, 3, {"a": 1, "b": 3}, parent=2, versions={"b": 3})
    snapshot.put_writes(at(number=1), [("a", 1)], "task")
    snapshot.delete_for_runs(["old"])
    assert numbers(snapshot) == [3, 2]
    assert values_of(snapshot, 2)["b"] == 2
    snapshot.prune(["thread", "unknown"])
    assert numbers(snapshot) == [3]
    assert {key[2:] for key in snapshot.blobs if key[2] == "b"} == {("b", 3)}
    snapshot.prune(["thread"], strategy="delete")
    assert numbers(snapshot) == []
    with pytest.raises(ValueError, match="found strategy 'all'"):
        snapshot.prune(["thread"], strategy="all")


def test_a_copy_stands_alone(snapshot: SnapshotSqliteSaver) -> None:
    put(snapshot, 1, {"a": 1})
    snapshot.put_writes(at(number=1), [("a", 1)], "task")
    snapshot.copy_thread("thread", "thread")
    asyncio.run(snapshot.acopy_thread("thread", "copy"))
    snapshot.delete_thread("thread")
    assert numbers(snapshot, at("copy")) == [1]
    assert values_of(snapshot, 1, thread_id="copy") == {"a": 1}
    put(snapshot, 1, {"a": 1})
    with pytest.raises(ValueError, match="'copy' holds data already"):
        snapshot.copy_thread("thread", "copy")


def test_thread_ids_stay_what_they_are(path: Path) -> None:
    with SnapshotSqliteSaver(path) as saver:
        for thread_id in (5, "5"):
            put(saver, 1, {"a": repr(thread_id)}, thread_id=thread_id)  # type: ignore[arg-type]
        saver.copy_thread(5, 77)  # type: ignore[arg-type]
    with SnapshotSqliteSaver(path) as saver:
        assert values_of(saver, 1, thread_id=77) == {"a": "5"}  # type: ignore[arg-type]
        saver.prune([5], strategy="delete")  # type: ignore[list-item]
        left = {found.config["configurable"]["thread_id"] for found in saver.list(None)}
        assert left == {"5", 77}
        for number in (2, 3):
            put(saver, number, thread_id=77)  # type: ignore[arg-type]
        saver.prune([77])  # type: ignore[list-item]
        assert numbers(saver, at(77, namespace=None)) == [3]  # type: ignore[arg-type]


@pytest.mark.parametrize("thread_id", [uuid.UUID(int=5), ("a", 1)])
def test_an_id_that_the_file_would_change_is_refused(path: Path, thread_id: Any) -> None:
    with SnapshotSqliteSaver(path) as saver:
        put(saver, 1)
        with pytest.raises(TypeError, match="expected text and numbers as ids and versions"):
            put(saver, 1, thread_id=thread_id)
        assert len(list(saver.list(None))) == 1


def test_the_journal_mode_of_a_file_can_be_changed(path: Path) -> None:
    """A reader of the saver's own, even an idle one, would keep SQLite from changing it."""
    with SnapshotSqliteSaver(path) as saver:
        put(saver, 1)
    with SnapshotSqliteSaver(path, journal_mode="DELETE", busy_timeout_ms=100) as saver:
        put(saver, 2)
        assert numbers(saver) == [2, 1]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_nothing_is_kept_for_threads_that_are_not_there(snapshot: SnapshotSqliteSaver) -> None:
    put(snapshot, 1)
    for config in (at("unknown"), at("unknown", 1), at(namespace="unknown")):
        assert snapshot.get_tuple(config) is None
        assert not list(snapshot.list(config))
        asked = snapshot.get_delta_channel_history(config=config, channels=["a"])
        assert asked["a"]["writes"] == []
    assert {thread: [*found] for thread, found in snapshot.storage.items()} == {"thread": [""]}
