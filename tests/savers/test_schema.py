"""Tables: their names, and how they come up to date."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from saverproof_savers import SchemaError, SqliteSaver, TableNames, schema
from tests.savers.helpers import at, got, numbers, put, values_of


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        }


def test_names_can_be_chosen_and_two_savers_share_a_file(path: Path) -> None:
    mine = TableNames(checkpoints="c", writes="w", values="v", migrations="m")
    with (
        SqliteSaver.open(path, tables=mine) as one,
        SqliteSaver.open(path, tables=TableNames.prefixed("langgraph_")) as other,
    ):
        put(one, 1, {"a": "one"})
        put(other, 1, {"a": "other"})
        other.delete_thread("unknown")
        assert values_of(one, 1) == {"a": "one"}
        assert values_of(other, 1) == {"a": "other"}
    assert tables(path) == {
        "c",
        "w",
        "v",
        "m",
        "langgraph_checkpoints",
        "langgraph_writes",
        "langgraph_values",
        "langgraph_migrations",
    }


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"checkpoints": "a; DROP TABLE x"}, "table name for checkpoints: found 'a; DROP"),
        ({"writes": 'a"b'}, "table name for writes"),
        ({"values": ""}, "table name for values: found ''"),
        ({"values": "1a"}, "table name for values: found '1a'"),
        ({"migrations": None}, "table name for migrations: found None"),
        ({"migrations": "SQLITE_x"}, "is reserved"),
        ({"writes": "CHECKPOINTS"}, "table names must differ"),
    ],
)
def test_a_bad_name_is_refused(names: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TableNames(**names)


def test_setting_up_again_changes_nothing(saver: SqliteSaver, path: Path) -> None:
    put(saver, 1, {"a": 1})
    watcher = sqlite3.connect(path)
    before = watcher.execute("PRAGMA data_version").fetchone()
    saver.setup()
    assert watcher.execute("PRAGMA data_version").fetchone() == before
    watcher.close()


@pytest.mark.parametrize("version", range(len(schema.MIGRATIONS)))
def test_an_older_database_is_brought_up_to_date(path: Path, version: int) -> None:
    names = TableNames()
    with closing(sqlite3.connect(path)) as connection:
        schema.migrate(connection.cursor(), names, schema.MIGRATIONS[:version])
        if version >= 1:
            connection.execute(
                """INSERT INTO checkpoints (thread_id, checkpoint_id, type, checkpoint, channels,
                   metadata) VALUES ('thread', ?, 'json', '{"v":4}', '{}', '{"run_id":"r"}')""",
                (at(number=1)["configurable"]["checkpoint_id"],),
            )
        connection.commit()
    with SqliteSaver.open(path) as saver:
        if version >= 1:
            assert got(saver, 1).metadata == {"run_id": "r"}
            saver.delete_for_runs(["r"])
            assert numbers(saver) == []
        put(saver, 2, {"a": 1})
        assert values_of(saver, 2) == {"a": 1}


def test_a_migration_that_fails_leaves_the_old_version(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteSaver.open(path) as saver:
        put(saver, 1, {"a": 1})

    def broken(names: TableNames) -> list[str]:
        return ["CREATE TABLE half_done (a)", "CREATE NONSENSE"]

    def migrations(cursor: sqlite3.Cursor, names: TableNames) -> None:
        original(cursor, names, (*schema.MIGRATIONS, broken))

    original = schema.migrate
    monkeypatch.setattr(schema, "migrate", migrations)
    monkeypatch.setattr(schema, "is_current", lambda cursor, names, *steps: False)
    with pytest.raises(sqlite3.OperationalError, match="syntax error"):
        SqliteSaver.open(path)
    monkeypatch.undo()
    assert "half_done" not in tables(path)
    with SqliteSaver.open(path) as saver:
        assert values_of(saver, 1) == {"a": 1}


def test_a_newer_database_is_refused(path: Path) -> None:
    with SqliteSaver.open(path) as saver:
        put(saver, 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO checkpoint_migrations (version) VALUES (99)")
    with pytest.raises(SchemaError, match=f"{path}: .*schema version 99, .* update saverproof"):
        SqliteSaver.open(path)


def test_tables_of_other_making_are_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE checkpoints (thread_id)")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=f"{path}: table 'checkpoints' is there already"):
        SqliteSaver.open(path)
    assert path.read_bytes() == before
    with SqliteSaver.open(path, tables=TableNames.prefixed("mine_")) as saver:
        put(saver, 1)


def test_a_given_connection_keeps_its_settings_and_stays_open(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = lambda cursor, row: {"as": "a dictionary"}
        settings = ["journal_mode", "synchronous", "busy_timeout", "foreign_keys"]

        def found() -> list[Any]:
            cursor = connection.cursor()
            cursor.row_factory = None
            return [cursor.execute(f"PRAGMA {name}").fetchone() for name in settings]

        before = found()
        with SqliteSaver(connection) as saver:
            put(saver, 1, {"a": 1})
            assert values_of(saver, 1) == {"a": 1}
            assert saver.path == str(path)
            assert connection.isolation_level == ""
        assert found() == before
        assert not connection.in_transaction


def test_a_given_connection_in_memory_has_no_path() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        saver = SqliteSaver(connection)
        put(saver, 1, {"a": 1})
        assert saver.path is None
        assert values_of(saver, 1) == {"a": 1}


def test_a_given_connection_that_cannot_serve_is_refused() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.text_factory = bytes
        with pytest.raises(ValueError, match="text_factory=<class 'bytes'>, expected str"):
            SqliteSaver(connection)

    class AlwaysInTransaction(sqlite3.Connection):
        autocommit = False

    with (
        closing(sqlite3.connect(":memory:", factory=AlwaysInTransaction)) as connection,
        pytest.raises(ValueError, match="autocommit=False"),
    ):
        SqliteSaver(connection)
