"""Files: who may read them, and what is said when one cannot be used."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from saverproof_savers import SqliteSaver, UndecodableError, files
from saverproof_savers.errors import explain
from tests.savers.helpers import at, numbers, put, values_of

as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")


def fill(path: Path) -> None:
    with SqliteSaver.open(path) as saver:
        for number in range(1, 30):
            put(saver, number, {"a": "x" * 500})
        put(saver, 1, {"a": "fine"}, thread_id="other")


def test_files_are_for_their_owner_alone(path: Path) -> None:
    mask = os.umask(0)
    try:
        with SqliteSaver.open(path) as saver:
            put(saver, 1)
            assert numbers(saver) == [1]
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    finally:
        os.umask(mask)
    expected = {path.name, f"{path.name}-wal", f"{path.name}-shm"}
    assert modes == dict.fromkeys(expected, 0o600)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_an_existing_file_keeps_its_mode(path: Path) -> None:
    path.touch(0o640)
    path.chmod(0o640)
    with SqliteSaver.open(path) as saver:
        put(saver, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "what?#.db", "é.db", "file:x.db"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    with SqliteSaver.open(tmp_path / name) as saver:
        put(saver, 1, {"a": 1})
        assert saver.path == str(tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_database_in_memory_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteSaver.open(":memory:") as saver:
        put(saver, 1, {"a": 1})
        assert values_of(saver, 1) == {"a": 1}
        assert saver.path is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_place_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match=f"{tmp_path}: .*it is a folder"):
        SqliteSaver.open(tmp_path)


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "checkpoints.db"
    with pytest.raises(sqlite3.OperationalError, match=f"the folder {path.parent} does not exist"):
        SqliteSaver.open(path)


@as_root
def test_a_file_without_permission_is_told(path: Path) -> None:  # pragma: no cover
    fill(path)
    path.chmod(0)
    with pytest.raises(sqlite3.OperationalError, match=f"{path}: .*no permission to read it"):
        SqliteSaver.open(path)


@as_root
def test_a_folder_without_permission_is_told(tmp_path: Path) -> None:  # pragma: no cover
    folder = tmp_path / "closed"
    folder.mkdir(0o500)
    with pytest.raises(sqlite3.OperationalError, match="check the permissions of it and of"):
        SqliteSaver.open(folder / "checkpoints.db")


def test_permission_is_the_reason_given_where_it_is_lacking(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As root, nothing lacks permission: the engine's answer is given in its place.
    path.touch()

    def refuse(*_: Any, **__: Any) -> sqlite3.Connection:
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorname = "SQLITE_CANTOPEN"
        raise error

    monkeypatch.setattr(files.sqlite3, "connect", refuse)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(sqlite3.OperationalError, match=f"{path}: .*no permission to read it"):
        SqliteSaver.open(path)
    monkeypatch.setattr(os, "access", lambda *_: True)
    with pytest.raises(sqlite3.OperationalError, match="check the permissions of it and of the"):
        SqliteSaver.open(path)


def test_a_file_that_is_no_database_is_told_and_left_alone(path: Path) -> None:
    path.write_bytes(b"not a database at all, " * 100)
    before = path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError, match=f"{path}: .*no SQLite database"):
        SqliteSaver.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("pages", [1, 3])
def test_a_truncated_file_is_told(path: Path, pages: int) -> None:
    fill(path)
    os.truncate(path, 4096 * pages)

    def use() -> None:
        with SqliteSaver.open(path) as saver:
            numbers(saver)

    with pytest.raises(sqlite3.DatabaseError, match=f"{path}: .*(damaged|cut short)"):
        use()


def test_a_row_that_cannot_be_decoded_is_told_and_the_others_are_readable(path: Path) -> None:
    fill(path)
    damages = [
        "UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id LIKE '%05'",
        "UPDATE checkpoints SET metadata = '{\"step\":' WHERE checkpoint_id LIKE '%06'",
        "UPDATE checkpoints SET channels = '{}x' WHERE checkpoint_id LIKE '%07'",
        "UPDATE checkpoints SET channels = '' WHERE checkpoint_id LIKE '%08'",
        "UPDATE checkpoints SET channels = '[]' WHERE checkpoint_id LIKE '%0a'",
        "UPDATE checkpoints SET channels = '{\"a\":1}' WHERE checkpoint_id LIKE '%0b'",
        "UPDATE checkpoints SET channels = x'00' WHERE checkpoint_id LIKE '%0c'",
        "DELETE FROM checkpoint_values WHERE version = 9 AND thread_id = 'thread'",
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        for damage in damages:
            connection.execute(damage)
    with SqliteSaver.open(path) as saver:
        for number in range(5, 13):
            expected = f"{path}: checkpoint .*{number:02x} of thread 'thread', namespace ''"
            with pytest.raises(UndecodableError, match=expected):
                saver.get_tuple(at(number=number))
        for operation in (
            lambda: saver.prune(["thread"]),
            lambda: saver.copy_thread("thread", "x"),
        ):
            with pytest.raises(UndecodableError, match=f"{path}: checkpoint .* cannot be decoded"):
                operation()
        listed = saver.list(at())
        assert next(listed) is not None
        with pytest.raises(UndecodableError, match="cannot be decoded"):
            list(listed)
        assert values_of(saver, 20) == {"a": "x" * 500}
        assert values_of(saver, 1, "other") == {"a": "fine"}
        put(saver, 9, {"a": "mended"}, metadata={"run_id": "mended"})
        for number in (5, 6, 7, 8, 10, 11, 12):
            child = number + 100
            whole = {"a": "x" * 500}
            put(saver, child, whole, parent=number, versions={"a": number}, new={})
            assert values_of(saver, child) == whole
            put(saver, number, {"a": "mended"}, metadata={"run_id": "mended"})
            assert values_of(saver, number) == {"a": "mended"}
        saver.delete_for_runs(["mended"])
        assert min(numbers(saver)) == 1
        saver.delete_thread("thread")
        assert numbers(saver) == []


def test_a_full_disk_is_told_and_loses_nothing(saver: SqliteSaver, path: Path) -> None:
    put(saver, 1, {"a": 1})
    (pages,) = saver.transact(lambda cursor: cursor.execute("PRAGMA page_count").fetchone())
    saver.transact(lambda cursor: cursor.execute(f"PRAGMA max_page_count={pages}"))
    with pytest.raises(sqlite3.OperationalError, match=f"{path}: database or disk is full"):
        put(saver, 2, {"a": "x" * 100_000})
    assert numbers(saver) == [1]
    saver.transact(lambda cursor: cursor.execute("PRAGMA max_page_count=1000000"))
    put(saver, 2, {"a": "x" * 100_000})
    assert numbers(saver) == [2, 1]


def test_a_file_that_cannot_be_written_is_told_and_readable(path: Path) -> None:
    fill(path)
    with SqliteSaver.open(path) as saver:
        put(saver, 30)
        saver.transact(lambda cursor: cursor.execute("PRAGMA query_only=ON"))
        with pytest.raises(sqlite3.OperationalError, match=f"{path}: .*cannot be written"):
            put(saver, 31)
        assert numbers(saver, limit=1) == [30]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"busy_timeout_ms": -1}, "busy_timeout_ms: found -1, expected milliseconds"),
        ({"busy_timeout_ms": True}, "busy_timeout_ms: found True"),
        ({"busy_timeout_ms": 0.5}, "busy_timeout_ms: found 0.5"),
        ({"synchronous": "full"}, "synchronous: found 'full', expected one of OFF, NORMAL"),
    ],
)
def test_a_bad_option_is_told(path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SqliteSaver.open(path, **options)
    assert not path.exists()


@pytest.mark.parametrize("synchronous", ["OFF", "NORMAL", "FULL", "EXTRA"])
def test_options_reach_the_connections(
    path: Path, synchronous: str, connections: list[sqlite3.Connection]
) -> None:
    with SqliteSaver.open(path, synchronous=synchronous, busy_timeout_ms=1234) as saver:
        put(saver, 1)
        assert numbers(saver) == [1]
        # One writes, and another one reads.
        assert len(connections) == 2
        for connection in connections:
            found = connection.execute("PRAGMA synchronous").fetchone()[0]
            assert files.SYNCHRONOUS[found] == synchronous
            assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 1234
            assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_waiting_for_a_busy_database_ends_with_the_busy_timeout() -> None:
    tries = []

    def always_busy() -> None:
        tries.append(1)
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error

    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        files.patiently(always_busy, 30)
    assert len(tries) > 1


def test_an_error_is_explained_once(path: Path) -> None:
    error = sqlite3.OperationalError("odd")
    explain(error, "x.db")
    explain(error, "x.db")
    assert str(error) == "x.db: odd"


def test_a_closed_saver_says_so(path: Path) -> None:
    saver = SqliteSaver.open(path)
    saver.close()
    saver.close()
    with pytest.raises(sqlite3.ProgrammingError, match=f"{path}: the saver is closed"):
        numbers(saver)
    with pytest.raises(sqlite3.ProgrammingError, match=f"{path}: the saver is closed"):
        put(saver, 1)


def test_a_relative_path_stays_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    with SqliteSaver.open("c.db") as saver:
        monkeypatch.chdir(tmp_path / "other")
        put(saver, 1)
        assert numbers(saver) == [1]
    assert not list((tmp_path / "other").iterdir())
    with SqliteSaver.open(tmp_path / "one" / "c.db") as saver:
        assert numbers(saver) == [1]
