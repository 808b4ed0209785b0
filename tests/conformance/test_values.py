"""The catalogue makes what its source text makes, and LangGraph's serializer keeps it."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from saverproof.programs.model.metadata import equal
from saverproof.programs.values import (
    CATALOGUE,
    GROUPS,
    Kind,
    Value,
    difference,
    kinds,
    refuses,
    roundtrips,
    same,
    values,
)
from saverproof.programs.values.metadata import (
    FILTER_KEYS,
    FILTER_VALUES,
    METADATA_KEYS,
    METADATA_VALUES,
)

KEPT = ("plain", "falsy", "scalar", "container", "object", "message", "wide", "large")
# LangGraph's serializer keeps a bytearray only where it stands alone.
LOST = {"bytearray-inside"}


def named(value: Value) -> str:
    return f"{value.kind}-{value.seed}"


def evaluated(value: Value) -> Any:
    names: dict[str, Any] = {}
    exec("\n".join(value.imports()), names)
    return eval(value.source(), names)


@pytest.mark.parametrize("value", values(*KEPT, "non-finite", "nul", "exception"), ids=named)
def test_source_makes_an_equal_object(value: Value) -> None:
    assert difference(value.make(), evaluated(value)) == ""


@pytest.mark.parametrize("value", values("container", "message"), ids=named)
def test_every_object_is_fresh(value: Value) -> None:
    assert value.make() is not value.make()


@pytest.mark.parametrize("value", values(*KEPT, "non-finite", "nul", "exception"), ids=named)
def test_serializer_keeps_the_value(value: Value) -> None:
    assert roundtrips(JsonPlusSerializer(), value) is (value.kind not in LOST)


@pytest.mark.parametrize("value", values("unserializable"), ids=named)
def test_serializer_refuses_the_unserializable(value: Value) -> None:
    assert refuses(JsonPlusSerializer(), value)
    assert not roundtrips(JsonPlusSerializer(), value)


@pytest.mark.parametrize("value", values(*KEPT), ids=named)
def test_serializer_refuses_nothing_else(value: Value) -> None:
    assert not refuses(JsonPlusSerializer(), value)


@pytest.mark.parametrize("kind", CATALOGUE.values(), ids=lambda kind: kind.name)
def test_distinct_kinds_tell_seeds_apart(kind: Kind) -> None:
    if kind.group == "unserializable":
        pytest.skip("objects without a value of their own")
    made = [kind.make(seed) for seed in range(12)]
    collisions = any(
        same(made[a], made[b]) for a in range(len(made)) for b in range(len(made)) if a != b
    )
    assert collisions is not kind.distinct


def test_forms_of_a_kind_differ() -> None:
    for kind in kinds("falsy", "non-finite"):
        made = [kind.make(seed) for seed in range(kind.forms)]
        assert not any(same(a, b) for a in made for b in made if a is not b)


@pytest.mark.parametrize("value", values(*GROUPS), ids=named)
def test_json_both_ways(value: Value) -> None:
    assert Value.from_json(json.loads(json.dumps(value.to_json()))) == value


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("text", "expected a kind and a seed"),
        (["text"], "expected a kind and a seed"),
        (["integer", True], "expected a kind and a seed"),
        (["no such", 1], "no kind 'no such'"),
        (["integer", "1"], "seed '1', expected an integer"),
    ],
)
def test_bad_json_is_told_in_one_line(data: Any, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        Value.from_json(data)


def test_unknown_group_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no group of values 'scalars'; known: plain, falsy"):
        kinds("scalars")


class Recorder(JsonPlusSerializer):
    """Counts what it is asked."""

    asked = 0

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        self.asked += 1
        return super().dumps_typed(obj)


def test_each_serializer_is_asked_once() -> None:
    serde = Recorder()
    answers = [roundtrips(serde, Value("set", 1)) for _ in range(3)]
    assert answers == [True] * 3
    assert serde.asked == 2  # alone and inside a dict


class Unhashable(JsonPlusSerializer):
    __hash__ = None  # type: ignore[assignment]


def test_serializer_that_cannot_be_remembered_is_asked_each_time() -> None:
    assert roundtrips(Unhashable(), Value("set", 1))


class OnlyAlone(JsonPlusSerializer):
    """Keeps a set that stands alone and turns one inside a dict into a list."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        loaded = super().loads_typed(data)
        if isinstance(loaded, dict):
            return {key: list(value) for key, value in loaded.items()}
        return loaded


def test_value_has_to_come_back_inside_a_dict_too() -> None:
    assert not roundtrips(OnlyAlone(), Value("set", 1))


class Noisy(JsonPlusSerializer):
    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        logging.getLogger("noisy").error("look at me")
        return super().loads_typed(data)


def test_asking_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert roundtrips(Noisy(), Value("integer-enum", 0))
    assert caplog.records == []
    logging.getLogger("noisy").error("heard again")
    assert len(caplog.records) == 1


def test_metadata_is_plain_json() -> None:
    for value in METADATA_VALUES:
        assert equal(value, json.loads(json.dumps(value)))
    assert set(map(type, METADATA_KEYS)) == {str}


def test_filters_are_what_every_saver_supports() -> None:
    assert all(key.isascii() and key.replace("_", "").isalnum() for key in FILTER_KEYS)
    assert set(map(type, FILTER_VALUES)) == {str, int, float, bool}
    assert not any(isinstance(value, str) and "\0" in value for value in FILTER_VALUES)


@pytest.mark.parametrize(
    ("expected", "observed", "alike"),
    [
        (1.0, 1, True),
        (1.0, True, False),
        (1, 1.0, True),
        (1, True, False),
        (0.5, 0.5, True),
        ({"a": 1, "b": [2.0]}, {"b": [2], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, 2], [2, 1], False),
        ([1], (1,), True),
        (None, None, True),
        ("a", "b", False),
    ],
)
def test_metadata_equality(expected: Any, observed: Any, alike: bool) -> None:
    assert equal(expected, observed) is alike
