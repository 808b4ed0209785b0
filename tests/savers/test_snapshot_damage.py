"""The saver whose whole state is one row, and a row that is damaged, gone or of other making."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers import SchemaError, SnapshotSqliteSaver, UndecodableError
from tests.savers.helpers import at, numbers, put


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.fixture
def snapshot(path: Path) -> Iterator[SnapshotSqliteSaver]:
    with SnapshotSqliteSaver(path) as saver:
        yield saver


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            [
                "CREATE TABLE checkpoint_state (id INTEGER PRIMARY KEY, storage BLOB, writes BLOB,"
                " blobs BLOB, updated_at TEXT)"
            ],
            "lacks the columns .'encoding', 'revision'.; .*pickle is never read",
        ),
        (["UPDATE checkpoint_state SET encoding = 'pickle'"], "found encoding 'pickle', expected"),
        (["DELETE FROM checkpoint_state"], "found no row, expected encoding 'msgpack/1'"),
    ],
)
def test_a_state_in_another_encoding_is_refused(
    path: Path, statements: list[str], message: str
) -> None:
    if not statements[0].startswith("CREATE"):
        SnapshotSqliteSaver(path).close()
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    with pytest.raises(SchemaError, match=f"{path}: table checkpoint_state.*{message}"):
        SnapshotSqliteSaver(path)


@pytest.mark.parametrize("column", ["storage", "writes", "blobs"])
@pytest.mark.parametrize("damage", ["x'c1'", "x'9101'", "x''", "x'80'", "'text'"])
def test_a_damaged_state_is_refused_on_opening(path: Path, column: str, damage: str) -> None:
    SnapshotSqliteSaver(path).close()
    execute(path, f"UPDATE checkpoint_state SET {column} = {damage}")
    with pytest.raises(UndecodableError, match=f"{path}: the state in table checkpoint_state"):
        SnapshotSqliteSaver(path)


@pytest.mark.parametrize(
    ("statement", "kind", "message"),
    [
        ("DELETE FROM checkpoint_state", SchemaError, "table checkpoint_state: found no row"),
        ("UPDATE checkpoint_state SET revision = 'x'", UndecodableError, "cannot be decoded"),
        (
            "UPDATE checkpoint_state SET encoding = 'pickle', revision = revision + 1",
            SchemaError,
            "table checkpoint_state: found encoding 'pickle'",
        ),
        ("DROP TABLE checkpoint_state", sqlite3.OperationalError, "no such table"),
    ],
)
def test_what_happens_to_the_state_of_an_open_saver_is_told(
    snapshot: SnapshotSqliteSaver, path: Path, statement: str, kind: type[Exception], message: str
) -> None:
    put(snapshot, 1)
    execute(path, statement)
    for operation in (lambda: numbers(snapshot), lambda: put(snapshot, 2)):
        with pytest.raises(kind, match=f"^{path}: .*{message}"):
            operation()


def test_a_value_that_cannot_be_decoded_names_its_checkpoint(path: Path) -> None:
    class Failing(JsonPlusSerializer):
        def loads_typed(self, data: tuple[str, bytes]) -> Any:
            raise LookupError("no key")

    with SnapshotSqliteSaver(path) as saver:
        put(saver, 1, {"a": 1})
        put(saver, 2, {"a": 2}, parent=1)
    with SnapshotSqliteSaver(path, serde=Failing()) as saver:
        operations: list[tuple[Callable[[], object], int]] = [
            (lambda: saver.get_tuple(at()), 2),
            (lambda: saver.get_tuple(at(number=1)), 1),
            (lambda: numbers(saver), 2),
            (lambda: saver.delete_for_runs(["run"]), 1),
            (lambda: saver.prune(["thread"]), 1),
        ]
        for operation, number in operations:
            place = f"checkpoint 1ef.*{number} of thread 'thread', namespace ''"
            with pytest.raises(UndecodableError, match=f"^{path}: {place}.*LookupError: no key"):
                operation()
        # Only what is asked for is decoded.
        assert numbers(saver, limit=0) == []
