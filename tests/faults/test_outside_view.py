"""What a second connection sees, and what it does not disturb."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from saverproof_faults import commit_elsewhere, outside_view, write_locked


@pytest.fixture
def path(tmp_path: Path) -> str:
    name = str(tmp_path / "a.db")
    with closing(sqlite3.connect(name)) as connection:
        connection.executescript(
            'PRAGMA journal_mode = WAL; CREATE TABLE t (x); CREATE TABLE "odd "" name" (x);'
            "INSERT INTO t VALUES (1), ('1'), (x'31'), (1.0), (NULL);"
        )
    return name


def test_tables_are_digested_whatever_the_order_of_rows(path: str) -> None:
    before = outside_view(path)
    assert before.tables["t"].rows == 5
    assert before.tables['odd " name'].rows == 0
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM t WHERE x = 1")
        connection.execute("INSERT INTO t VALUES (1.0), (1)")
    assert outside_view(path).changed(before) == ()


def test_a_changed_type_a_lost_row_and_a_new_table_are_seen(path: str) -> None:
    before = outside_view(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE t SET x = 2.0 WHERE x IS NULL")
        connection.execute("CREATE TABLE v (x)")
    after = outside_view(path)
    assert after.changed(before) == ("t", "v")
    assert after.tables["t"].rows == before.tables["t"].rows


def test_a_held_write_lock_is_seen_and_a_reader_is_none(path: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM t").fetchall()
        assert not write_locked(path)
        connection.execute("INSERT INTO t VALUES (9)")
        assert write_locked(path)
        locked = outside_view(path)
        assert locked.write_locked
        assert locked.tables["t"].rows == 5
        connection.execute("ROLLBACK")
    assert not write_locked(path)


def test_tables_that_cannot_be_read_are_a_problem_not_an_absence(path: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        seen = outside_view(path)
    assert seen.write_locked
    assert seen.problem == "database is locked"
    assert seen.tables == {}


def test_a_commit_elsewhere_changes_nothing_but_is_one(path: str) -> None:
    before = outside_view(path)
    with closing(sqlite3.connect(path)) as connection:
        (first,) = connection.execute("PRAGMA data_version").fetchone()
        commit_elsewhere(path)
        assert connection.execute("PRAGMA data_version").fetchone() != (first,)
    assert outside_view(path) == before


def test_a_damaged_file_is_a_problem_and_no_lock(path: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    before = outside_view(path)
    damaged = Path(path)
    damaged.write_bytes(damaged.read_bytes()[:4096] + b"\xff" * 4096 * 4)
    after = outside_view(path)
    assert "malformed" in after.problem
    assert not after.write_locked
    assert after.changed(before) == ('odd " name', "t")
    assert not write_locked(path)
    commit_elsewhere(path)
