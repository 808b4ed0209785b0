"""Databases of the official savers are brought over whole, and left as they were."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import ERROR

from saverproof_savers import (
    ImportMismatchError,
    JsonFirstSerializer,
    SchemaError,
    SqliteSaver,
    UndecodableError,
    import_official,
    official,
)
from saverproof_savers.__main__ import main
from tests.savers.helpers import at, checkpoint_id, got, make, numbers, put, writes_of

langgraph_sqlite = pytest.importorskip("langgraph.checkpoint.sqlite")


def fill(saver: Any) -> None:
    values: dict[str, Any] = {"messages": [HumanMessage("hi", id="1")], "n": 1, "set": {1, 2}}
    put(saver, 1, values, metadata={"step": -1, "run_id": "r"})
    put(saver, 2, {**values, "n": 2}, parent=1, versions={"messages": 1, "n": 2, "set": 1})
    put(saver, 1, {"n": 1}, namespace="node:task")
    saver.put_writes(at(number=2), [("n", 3), (ERROR, "e"), ("n", None)], "task", "~path")
    saver.put_writes(at(number=2), [("n", 4)], "a task", "~other")
    saver.put_writes(at("writes only", 7), [("n", 3)], "task")
    put(saver, 1, {"n": "other"}, thread_id="other")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source" / "official.db"
    path.parent.mkdir()
    with langgraph_sqlite.SqliteSaver.from_conn_string(str(path)) as saver:
        fill(saver)
    return path


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    def look() -> list[tuple[str, bytes]]:
        return sorted(
            (each.name, each.read_bytes())
            for each in path.parent.iterdir()
            if not each.name.endswith("-shm")
        )

    before = look(), sorted(os.listdir(path.parent))
    yield
    assert (look(), sorted(os.listdir(path.parent))) == before


def shown(saver: Any, thread_id: str) -> list[Any]:
    found = saver.list(at(thread_id, namespace=None))
    return sorted(found, key=lambda each: str(each.config))


def test_everything_comes_over_and_the_source_stays_as_it_is(
    source: Path, any_saver: SqliteSaver
) -> None:
    with unchanged(source):
        done = import_official(source, any_saver)
    assert (done.threads, done.already_there, done.checkpoints, done.writes) == (3, 0, 4, 5)
    with langgraph_sqlite.SqliteSaver.from_conn_string(str(source)) as origin:
        for thread_id in ("thread", "other"):
            assert shown(any_saver, thread_id) == shown(origin, thread_id)
        next_version = any_saver.get_next_version(origin.get_next_version(None, None), None)
    assert isinstance(next_version, str)
    put(any_saver, 7, thread_id="writes only")
    assert writes_of(any_saver, 7, "writes only") == [("n", 3)]


def test_values_are_shared_and_dates_kept(source: Path, saver: SqliteSaver) -> None:
    import_official(source, saver)

    def look(cursor: sqlite3.Cursor) -> tuple[int, set[str]]:
        cursor.execute("SELECT count(*) FROM checkpoint_values WHERE channel = 'messages'")
        count = cursor.fetchone()[0]
        cursor.execute("SELECT created_at FROM checkpoints")
        return count, {row[0] for row in cursor.fetchall()}

    assert saver.transact(look) == (1, {"2026-11-21T22:00:00.000Z"})
    saver.delete_for_runs(["r"])
    assert numbers(saver, at()) == [2]


def test_an_import_may_be_repeated(source: Path, saver: SqliteSaver) -> None:
    import_official(source, saver, thread_ids=["other"])
    done = import_official(source, saver)
    assert (done.threads, done.already_there) == (3, 1)
    put(saver, 50)
    assert import_official(source, saver).already_there == 3


def test_a_write_that_waits_for_its_checkpoint_is_compared_too(
    source: Path, saver: SqliteSaver
) -> None:
    import_official(source, saver)
    with langgraph_sqlite.SqliteSaver.from_conn_string(str(source)) as origin:
        origin.put_writes(at("writes only", 8), [("n", 5)], "later")
    with pytest.raises(
        ImportMismatchError, match=r"write 0 of task 'later' of thread 'writes only'"
    ):
        import_official(source, saver)


def test_a_thread_with_other_content_is_not_touched(source: Path, saver: SqliteSaver) -> None:
    put(saver, 1, {"n": "mine"}, thread_id="other")
    with pytest.raises(ImportMismatchError, match=r"of thread 'other'.* is .*expected"):
        import_official(source, saver, thread_ids=["other"])
    assert got(saver, 1, "other").checkpoint["channel_values"] == {"n": "mine"}


def test_what_does_not_read_back_is_not_committed(source: Path, saver: SqliteSaver) -> None:
    class Forgetful(JsonPlusSerializer):
        def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
            return super().dumps_typed("lost" if obj == {1, 2} else obj)

    saver.serde = Forgetful()
    with pytest.raises(ImportMismatchError, match=r"channel_values is .*lost.*expected"):
        import_official(source, saver)
    assert numbers(saver) == []


@pytest.mark.parametrize("version", [1, 2])
def test_databases_of_2_x_come_over(tmp_path: Path, saver: SqliteSaver, version: int) -> None:
    path = tmp_path / "old.db"
    serde = JsonPlusSerializer()
    checkpoint: Any = {**make(1, {"n": 1}), "v": version, "pending_sends": [["node", 1]]}
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT,
            parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB);
            CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT,
            task_id TEXT, idx INTEGER, channel TEXT, type TEXT, value BLOB)"""
        )
        row = ("thread", "", checkpoint_id(1), None, *serde.dumps_typed(checkpoint))
        metadata = b'{"step": 1, "writes": {"node": ["x"]}}' if version == 1 else None
        connection.execute("INSERT INTO checkpoints VALUES (?,?,?,?,?,?,?)", (*row, metadata))
        write = ("thread", "", checkpoint_id(1), "task", 0, "n", *serde.dumps_typed(2))
        connection.execute("INSERT INTO writes VALUES (?,?,?,?,?,?,?,?)", write)
        connection.commit()
    import_official(path, saver)
    found = got(saver, 1)
    assert found.checkpoint == checkpoint
    assert found.metadata == ({"step": 1, "writes": {"node": ["x"]}} if version == 1 else {})
    assert found.pending_writes == [("task", "n", 2)]


def test_a_source_left_by_a_crash_is_read_from_a_copy(tmp_path: Path, source: Path) -> None:
    code = (
        "import sqlite3, sys, os; c = sqlite3.connect(sys.argv[1]);"
        "c.execute(\"DELETE FROM checkpoints WHERE thread_id = 'other'\"); c.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(source)], check=True)
    assert Path(f"{source}-wal").stat().st_size > 0
    with SqliteSaver.open(tmp_path / "with shm.db") as saver, unchanged(source):
        assert import_official(source, saver).checkpoints == 3
    Path(f"{source}-shm").unlink()
    with SqliteSaver.open(tmp_path / "without shm.db") as saver, unchanged(source):
        assert import_official(source, saver).checkpoints == 3


def test_a_source_in_use_is_read_as_it_was_at_one_moment(source: Path, saver: SqliteSaver) -> None:
    with langgraph_sqlite.SqliteSaver.from_conn_string(str(source)) as origin:
        put(origin, 9, {"n": 9}, thread_id="other")
        import_official(source, saver)
        put(origin, 10, {"n": 10}, thread_id="other")
    assert numbers(saver, at("other")) == [9, 1]


def test_a_source_that_changes_meanwhile_is_told(source: Path, saver: SqliteSaver) -> None:
    with (
        pytest.raises(RuntimeError, match=f"{source}: the file changed while it was read"),
        official.open_official(source, JsonPlusSerializer()),
    ):
        os.utime(source, ns=(1, 1))


def test_a_row_that_cannot_be_decoded_is_told(source: Path, saver: SqliteSaver) -> None:
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("UPDATE checkpoints SET metadata = '{' WHERE thread_id = 'other'")
        connection.execute("UPDATE writes SET value = x'c1' WHERE thread_id = 'writes only'")
    expected = f"{source}: checkpoint {checkpoint_id(1)} of thread 'other' cannot be decoded"
    with pytest.raises(UndecodableError, match=expected):
        import_official(source, saver, thread_ids=["other"])
    with pytest.raises(UndecodableError, match=f"{source}: write 0 of task task at checkpoint"):
        import_official(source, saver, thread_ids=["writes only"])
    assert import_official(source, saver, thread_ids=["thread"]).checkpoints == 3


def test_a_value_without_a_version_is_told(source: Path, saver: SqliteSaver) -> None:
    with langgraph_sqlite.SqliteSaver.from_conn_string(str(source)) as origin:
        put(origin, 3, {"n": 1, "loose": 2}, versions={"n": 1})
    with pytest.raises(ImportMismatchError, match="has a value of channel 'loose', which has no"):
        import_official(source, saver)
    assert numbers(saver) == []


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_a_file_of_another_kind_is_told(tmp_path: Path, saver: SqliteSaver, content: bytes) -> None:
    path = tmp_path / "odd.db"
    path.write_bytes(content)
    with pytest.raises((SchemaError, sqlite3.DatabaseError), match=f"{path}: "):
        import_official(path, saver)
    assert path.read_bytes() == content


def test_a_truncated_source_is_told(source: Path, saver: SqliteSaver) -> None:
    os.truncate(source, 4096 * 3)
    with pytest.raises((sqlite3.DatabaseError, UndecodableError), match=f"{source}: "):
        import_official(source, saver)


def test_a_missing_source_is_told_and_not_made(tmp_path: Path, saver: SqliteSaver) -> None:
    path = tmp_path / "missing.db"
    with pytest.raises(sqlite3.OperationalError, match=f"{path}: "):
        import_official(path, saver)
    assert not path.exists()


def test_an_unknown_thread_is_told(source: Path, saver: SqliteSaver) -> None:
    with pytest.raises(ValueError, match=f"{source}: has no thread 'nobody'"):
        import_official(source, saver, thread_ids=["other", "nobody"])
    assert numbers(saver, at("other")) == []


def test_the_source_may_have_a_serializer_of_its_own(source: Path, tmp_path: Path) -> None:
    with SqliteSaver.open(tmp_path / "json.db", serde=JsonFirstSerializer()) as saver:
        import_official(source, saver, serde=JsonFirstSerializer())
        assert numbers(saver, at()) == [2, 1]


def test_progress_is_told_thread_by_thread(source: Path, saver: SqliteSaver) -> None:
    told: list[tuple[int, int]] = []
    import_official(source, saver, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_the_command_brings_over_and_tells(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    run = CliRunner().invoke(main, ["import", str(source), str(target), "--thread", "other"])
    assert run.exit_code == 0, run.output
    assert "1 threads verified (0 were there before), 1 checkpoints, 0 pending" in run.output
    run = CliRunner().invoke(main, ["import", str(source), str(target)])
    assert "3 threads verified (1 were there before)" in run.output
    run = CliRunner().invoke(main, ["import", str(target), str(source)])
    assert run.exit_code == 1
    assert run.output.startswith(f"Error: {target}: found no table 'writes' with the columns")
    run = CliRunner().invoke(main, ["import", str(source), str(source)])
    assert run.exit_code == 1
    assert run.output.startswith(f"Error: {source}: table 'checkpoints' is there already")


def test_a_wrong_source_leaves_no_target(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"")
    command = ["import", str(tmp_path / "source"), str(tmp_path / "target.db")]
    run = CliRunner().invoke(main, command)
    assert run.exit_code == 1
    assert "found no table 'checkpoints'" in run.output
    assert not (tmp_path / "target.db").exists()


def test_the_module_can_be_run(source: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "saverproof_savers", "import", str(source), "target.db"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "target.db: 3 threads verified" in run.stdout
    shutil.rmtree(source.parent)
