"""The JSON-first serializer, strict reading, and encryption."""

import dataclasses
import sqlite3
import uuid
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof_savers import JsonFirstSerializer, SqliteSaver, json_serde
from tests.savers.helpers import at, put, values_of, writes_of


@dataclasses.dataclass
class Point:
    x: int


JSON_VALUES: list[Any] = [
    "text",
    "",
    "nul \0 and astral \U0001f600",
    "lone \ud800 surrogate",
    0,
    -(2**63),
    2**70,
    True,
    1e300,
    1e16,
    -0.0,
    {"a": [1, {"b": None}], "": 0.1},
    [],
    {},
]
OTHER_VALUES: list[Any] = [
    None,
    b"bytes",
    {1: "integer key"},
    {"deep": [{1, 2}]},
    [datetime(2026, 1, 1, tzinfo=UTC)],
    uuid.UUID(int=5),
    Point(3),
    [HumanMessage("hi", id="1"), AIMessage("ho", id="2")],
    {"lc": 2, "type": "constructor", "id": ["os", "system"]},
    float("inf"),
]


@pytest.mark.parametrize("value", JSON_VALUES)
def test_what_json_holds_exactly_is_json(value: Any) -> None:
    serde = JsonFirstSerializer()
    kind, data = serde.dumps_typed(value)
    assert kind == "json"
    found = serde.loads_typed((kind, data))
    assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.parametrize("value", OTHER_VALUES)
def test_everything_else_is_as_langgraph_writes_it(value: Any) -> None:
    serde = JsonFirstSerializer()
    typed = serde.dumps_typed(value)
    assert typed == JsonPlusSerializer().dumps_typed(value)
    assert serde.loads_typed(typed) == value


def test_json_that_langgraph_wrote_is_read_as_it_reads_it() -> None:
    text = b'{"lc": 2, "type": "constructor", "id": ["uuid", "UUID"], "args": ["%s"]}'
    data = text % str(uuid.UUID(int=5)).encode()
    expected = JsonPlusSerializer().loads_typed(("json", data))
    assert JsonFirstSerializer().loads_typed(("json", data)) == expected


def test_sql_reads_what_json_holds(path: Path) -> None:
    with SqliteSaver.open(path, serde=JsonFirstSerializer()) as saver:
        put(saver, 1, {"state": {"city": "Köln"}})
        saver.put_writes(at(number=1), [("state", {"city": "Bonn"})], "task")
    with closing(sqlite3.connect(path)) as connection:
        sql = "SELECT json_extract(CAST(value AS TEXT), '$.city') FROM {} WHERE type = 'json'"
        assert connection.execute(sql.format("checkpoint_values")).fetchall() == [("Köln",)]
        assert connection.execute(sql.format("checkpoint_writes")).fetchall() == [("Bonn",)]


def test_the_allowlist_of_a_graph_reaches_the_json_first_serializer() -> None:
    if not hasattr(JsonPlusSerializer, "with_msgpack_allowlist"):
        pytest.skip("langgraph-checkpoint without allow-lists")
    strict = JsonFirstSerializer(allowed_msgpack_modules=None)
    derived = strict.with_msgpack_allowlist([(Point.__module__, Point.__name__)])
    assert isinstance(derived, JsonFirstSerializer)
    assert derived.loads_typed(strict.dumps_typed(Point(1))) == Point(1)


@pytest.mark.skipif(
    not hasattr(JsonPlusSerializer, "with_msgpack_allowlist"),
    reason="langgraph-checkpoint without allow-lists",
)
def test_strict_reading_builds_only_what_is_allowed(path: Path) -> None:
    with SqliteSaver.open(path) as saver:
        put(saver, 1, {"point": Point(3), "message": HumanMessage("hi", id="1")})
    with SqliteSaver.open(path, allowed_types=[Point]) as saver:
        assert values_of(saver, 1)["point"] == Point(3)
    with SqliteSaver.open(path, allowed_types=[]) as saver:
        found = values_of(saver, 1)
        assert found == {"point": {"x": 3}, "message": HumanMessage("hi", id="1")}


def test_strict_reading_excludes_a_serializer(path: Path) -> None:
    with pytest.raises(ValueError, match="serde and allowed_types: found both"):
        SqliteSaver.open(path, serde=JsonFirstSerializer(), allowed_types=[])


def test_strict_reading_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        def __init__(self) -> None: ...

    monkeypatch.setattr(json_serde, "JsonPlusSerializer", Old)
    with pytest.raises(RuntimeError, match="needs a newer langgraph-checkpoint"):
        json_serde.strict_serializer([])


def test_nothing_encrypted_is_readable_in_the_files(path: Path) -> None:
    serde = EncryptedSerializer.from_pycryptodome_aes(key=b"sixteen bytes!!!")
    secret = "a very secret text"
    with SqliteSaver.open(path, serde=serde) as saver:
        checkpoint: Any = {"a": secret, "b": {"nested": [secret]}}
        put(saver, 1, checkpoint, metadata={"object": b"\xff" + secret.encode()})
        put(saver, 1, checkpoint)
        saver.put_writes(at(number=1), [("a", secret), ("b", ValueError(secret))], "task")
        files = b"".join(each.read_bytes() for each in path.parent.iterdir())
        assert secret.encode() not in files
        assert values_of(saver, 1) == checkpoint
        assert writes_of(saver, 1)[0] == ("a", secret)
        # Nothing can be told to be the same, and what nobody reads is gone all the same.
        count = "SELECT count(*) FROM checkpoint_values"
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute(count).fetchone()[0] == 2


def test_a_serializer_assigned_later_is_the_one_that_is_used(saver: SqliteSaver) -> None:
    saver.serde = JsonFirstSerializer()
    put(saver, 1, {"a": {"b": 1}})
    found = saver.transact(
        lambda cursor: cursor.execute("SELECT type FROM checkpoint_values").fetchall()
    )
    assert found == [("json",)]
