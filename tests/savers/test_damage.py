"""A damaged row is named, stands in nobody's way, and is mended by a put over it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from saverproof_savers import SqliteSaver, TableNames, UndecodableError, schema
from tests.savers.helpers import at, checkpoint_id, got, number_of, numbers, put, values_of

NOT_UTF8 = "CAST(x'7bff' AS TEXT)"
CHANNELS = [
    "'{'",
    "'5'",
    "'[1,2]'",
    """'{"a":{"b":1,"c":2}}'""",
    """'{"a":{"b":1}}'""",
    """'{"a":[1,[2]]}'""",
    """'{"a":[1,{}]}'""",
    """'{"a":[1,true]}'""",
    """'{"a":[1,"b"]}'""",
    """'{"a":[1,null]}'""",
    """'{"a":[1,-2]}'""",
    """'{"a":[1,99999999999999999999]}'""",
    """'{"a":[1,1,1]}'""",
    """'{"a":[1,null,3,4]}'""",
    """'{"a":[]}'""",
    """'{"a":5}'""",
    """'{"a":"b"}'""",
    """'{"a":"bc"}'""",
    """'{"a":"bcd"}'""",
    "printf('%.*c', 50000, '[')",
    "x'7bff'",
    NOT_UTF8,
]
METADATA = ["'{'", "'[1]'", "'5'", "''", "x'7b7d'", "printf('%.*c', 50000, '[')", NOT_UTF8]
DAMAGE = [
    *(("channels", value) for value in CHANNELS),
    *(("metadata", value) for value in METADATA),
    ("type", NOT_UTF8),
    ("parent_checkpoint_id", NOT_UTF8),
    ("parent_checkpoint_id", "x'7bff'"),
]
HIDDEN = [("checkpoint", NOT_UTF8), ("checkpoint", "'abc'")]
CANNOT = "checkpoint {} of thread 'thread', namespace '', cannot be decoded"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.db"


@pytest.fixture
def saver(path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.open(path) as saver:
        for number in (1, 2, 3, 4):
            parent = number - 1 or None
            metadata = {"step": number, "run_id": f"run{number}"}
            put(saver, number, {"a": ["v", number]}, parent=parent, metadata=metadata)
        put(saver, 1, {"a": ["other"]}, thread_id="other")
        yield saver


def change(path: Path, statement: str, *parameters: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, parameters).rowcount > 0


def damage(path: Path, column: str, value: str, number: int = 2) -> None:
    change(
        path,
        f"UPDATE checkpoints SET {column} = {value} "
        "WHERE thread_id = 'thread' AND checkpoint_id = ?",
        checkpoint_id(number),
    )


def rows(path: Path, select: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(select).fetchall()


def named(path: Path, number: int = 2) -> str:
    return f"{path}: {CANNOT.format(checkpoint_id(number))}"


@pytest.mark.parametrize(("column", "value"), [*DAMAGE, *HIDDEN])
def test_a_damaged_row_is_named_and_the_others_are_readable(
    saver: SqliteSaver, path: Path, column: str, value: str
) -> None:
    damage(path, column, value)
    with pytest.raises(UndecodableError, match=named(path)):
        saver.get_tuple(at(number=2))
    for config in (at(), at(namespace=None)):
        listing = saver.list(config)
        assert [number_of(next(listing)), number_of(next(listing))] == [4, 3]
        with pytest.raises(UndecodableError, match=named(path)):
            next(listing)
    assert numbers(saver, at("other")) == [1]
    assert numbers(saver, at(namespace=None), limit=2) == [4, 3]
    assert numbers(saver, at(namespace=None), before=at(number=2)) == [1]
    assert values_of(saver, 3) == {"a": ["v", 3]}


@pytest.mark.parametrize(("column", "value"), [*DAMAGE, *HIDDEN])
def test_a_put_below_a_damaged_row_and_a_put_over_it_work(
    saver: SqliteSaver, path: Path, column: str, value: str
) -> None:
    damage(path, column, value)
    put(saver, 5, {"a": ["v", 5]}, parent=2)
    put(saver, 6, {"a": ["v", 6]}, parent=2, new={})
    assert values_of(saver, 6) == {"a": ["v", 6]}
    put(saver, 2, {"a": ["mended"]}, parent=1)
    assert values_of(saver, 2) == {"a": ["mended"]}
    assert numbers(saver) == [6, 5, 4, 3, 2, 1]
    saver.delete_thread("thread")
    assert rows(path, "SELECT DISTINCT thread_id FROM checkpoint_values") == [("other",)]


@pytest.mark.parametrize(("column", "value"), [*DAMAGE, *HIDDEN])
def test_pruning_and_copying_leave_a_thread_with_a_damaged_row(
    saver: SqliteSaver, path: Path, column: str, value: str
) -> None:
    damage(path, column, value)
    everything = """SELECT thread_id, checkpoint_ns, checkpoint_id, hex(channels), hex(metadata),
        hex(parent_checkpoint_id) FROM checkpoints"""
    before = rows(path, everything), rows(path, "SELECT * FROM checkpoint_values")
    with pytest.raises(UndecodableError, match=named(path)):
        saver.prune(["thread"])
    with pytest.raises(UndecodableError, match=named(path)):
        saver.copy_thread("thread", "copy")
    assert (rows(path, everything), rows(path, "SELECT * FROM checkpoint_values")) == before


@pytest.mark.parametrize(("column", "value"), [*DAMAGE, *HIDDEN])
def test_deleting_a_thread_with_a_damaged_row_leaves_nothing(
    saver: SqliteSaver, path: Path, column: str, value: str
) -> None:
    damage(path, column, value)
    saver.delete_thread("thread")
    for table in ("checkpoints", "checkpoint_values"):
        assert rows(path, f"SELECT DISTINCT thread_id FROM {table}") == [("other",)]
    assert values_of(saver, 1, "other") == {"a": ["other"]}


@pytest.mark.parametrize("value", CHANNELS)
def test_the_values_of_a_damaged_row_go_with_it(saver: SqliteSaver, path: Path, value: str) -> None:
    damage(path, "channels", value)
    saver.delete_for_runs(["run2"])
    count = "SELECT count(*) FROM checkpoint_values WHERE thread_id = 'thread'"
    assert rows(path, count) == [(3,)]
    assert numbers(saver, at()) == [4, 3, 1]


def test_the_values_of_one_damaged_row_stay_while_another_is_damaged(
    saver: SqliteSaver, path: Path
) -> None:
    count = "SELECT count(*) FROM checkpoint_values WHERE thread_id = 'thread'"
    damage(path, "channels", "'{'", 2)
    damage(path, "channels", "'['", 3)
    put(saver, 2, {"a": ["mended"]}, parent=1)
    assert rows(path, count) == [(5,)]
    put(saver, 3, {"a": ["mended"]}, parent=2)
    assert rows(path, count) == [(4,)]


def test_a_row_that_names_a_value_of_another_thread_is_damaged_and_harms_nobody(
    saver: SqliteSaver, path: Path
) -> None:
    [(foreign,)] = rows(path, "SELECT value_id FROM checkpoint_values WHERE thread_id = 'other'")
    damage(path, "channels", f"""'{{"a":[2,{foreign}]}}'""")
    damage(path, "channels", f"""'{{"a":[3,{foreign}],"b":[3,{foreign}]}}'""", 3)
    for number in (2, 3):
        with pytest.raises(UndecodableError, match=named(path, number)):
            saver.get_tuple(at(number=number))
    with pytest.raises(UndecodableError, match="cannot be decoded"):
        saver.copy_thread("thread", "copy")
    saver.delete_for_runs(["run2"])
    saver.delete_thread("thread")
    assert values_of(saver, 1, "other") == {"a": ["other"]}


def test_a_missing_value_is_damage(saver: SqliteSaver, path: Path) -> None:
    put(saver, 5, {"a": ["v", 5], "b": ["b"]}, parent=4)
    change(path, "DELETE FROM checkpoint_values WHERE channel = 'b'")
    with pytest.raises(UndecodableError, match=named(path, 5)):
        saver.get_tuple(at(number=5))
    with pytest.raises(UndecodableError, match=named(path, 5)):
        saver.copy_thread("thread", "copy")
    with pytest.raises(UndecodableError, match=named(path, 5)):
        saver.prune(["thread"])
    assert numbers(saver, at("copy")) == []
    put(saver, 5, {"a": ["v", 5], "b": ["b"]}, parent=4)
    assert values_of(saver, 5) == {"a": ["v", 5], "b": ["b"]}


@pytest.mark.parametrize("value", METADATA)
def test_damaged_metadata_does_not_spoil_a_filter(
    saver: SqliteSaver, path: Path, value: str
) -> None:
    damage(path, "metadata", value)
    assert numbers(saver, at("other"), filter={"step": 1}) == [1]
    assert numbers(saver, at(), filter={"step": 4}, limit=1) == [4]
    assert numbers(saver, at(), filter={"step": 1}, before=at(number=2)) == [1]
    listing = saver.list(None, filter={"step": 4})
    assert number_of(next(listing)) == 4
    with pytest.raises(UndecodableError, match=named(path)):
        next(listing)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("channels", "'{'"),
        ("channels", "'5'"),
        ("channels", NOT_UTF8),
        ("channels", """'{"z":5}'"""),
        ("channels", """'{"z":[1,null]}'"""),
        ("channels", """'{"z":[1,12345]}'"""),
        ("channels", "printf('%.*c', 50000, '[')"),
        ("parent_checkpoint_id", NOT_UTF8),
    ],
)
def test_a_damaged_ancestor_is_named_by_the_history_of_a_delta_channel(
    saver: SqliteSaver, path: Path, column: str, value: str
) -> None:
    damage(path, column, value)
    with pytest.raises(UndecodableError, match=named(path)):
        saver.get_delta_channel_history(config=at(number=4), channels=["z"])
    assert saver.get_delta_channel_history(config=at(number=4), channels=["a"])


def test_a_value_that_cannot_be_decoded_is_named_by_the_history(path: Path) -> None:
    first, second = (
        EncryptedSerializer.from_pycryptodome_aes(key=key)
        for key in (b"one key of sixte", b"other of sixteen")
    )
    with SqliteSaver.open(path, serde=first) as saver:
        put(saver, 1, {"a": ["seed"]})
        saver.put_writes(at(number=1), [("x", "written")], "task")
        put(saver, 2, {"b": 1}, parent=1)
    with SqliteSaver.open(path, serde=second) as saver:
        for channel in ("a", "x"):
            with pytest.raises(UndecodableError, match=named(path, 1)):
                saver.get_delta_channel_history(config=at(number=2), channels=[channel])


def test_a_damaged_row_does_not_stop_the_migration_from_version_1(path: Path) -> None:
    insert = """INSERT INTO checkpoints VALUES
        ('thread', '', ?, NULL, 'msgpack', x'80', '{}', ?, datetime())"""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        schema.migrate(connection.cursor(), TableNames(), schema.MIGRATIONS[:1])
        connection.execute(insert, (checkpoint_id(1), "{"))
        connection.execute(insert, (checkpoint_id(2), '{"run_id":"run"}'))
    with SqliteSaver.open(path) as saver:
        assert got(saver, 2).metadata == {"run_id": "run"}
        saver.delete_for_runs(["run"])
        with pytest.raises(UndecodableError, match=named(path, 1)):
            saver.get_tuple(at())


@pytest.mark.parametrize("column", ["task_id", "channel", "type"])
@pytest.mark.parametrize("others", [0, 2])
def test_a_damaged_write_damages_its_checkpoint(
    saver: SqliteSaver, path: Path, column: str, others: int
) -> None:
    writes = [("x", index) for index in range(others + 1)]
    saver.put_writes(at(number=2), writes, "task")
    change(path, f"UPDATE checkpoint_writes SET {column} = {NOT_UTF8} WHERE idx = 0")
    with pytest.raises(UndecodableError, match=named(path)):
        saver.get_tuple(at(number=2))
    assert numbers(saver, at(), limit=2) == [4, 3]
    assert values_of(saver, 3) == {"a": ["v", 3]}
