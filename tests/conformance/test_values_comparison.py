"""Comparison is exact, says where values differ, and shows anything."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, time, timedelta, timezone
from decimal import Decimal
from http import HTTPMethod, HTTPStatus
from pstats import FunctionProfile
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Send

from saverproof.programs.values import GROUPS, Value, difference, same, show, values

NAN = float("nan")


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        (True, 1),
        (1, 1.0),
        (0, False),
        (0.0, -0.0),
        (b"a", bytearray(b"a")),
        ("1", 1),
        ("", None),
        ([1], (1,)),
        ([1, 2], [2, 1]),
        ([1], [True]),
        ([1], [1, 1]),
        ({1}, {True}),
        ({1}, frozenset({1})),
        ({1, 2}, {1}),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {"b": 1}),
        ({1: "a"}, {True: "a"}),
        ({1: "a", "1": "b"}, {"1": "b"}),
        ({"a": {"b": [0.0]}}, {"a": {"b": [-0.0]}}),
        (deque([1]), deque([1], maxlen=3)),
        (Decimal("1.0"), Decimal("1.00")),
        (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
        (
            datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            datetime(2024, 1, 1, tzinfo=UTC),
        ),
        (time(1), time(1, tzinfo=UTC)),
        (HTTPStatus.OK, 200),
        (HTTPMethod.GET, "GET"),
        (HTTPStatus.OK, HTTPStatus.CREATED),
        (HumanMessage("a"), AIMessage("a")),
        (HumanMessage("a"), HumanMessage("b")),
        (HumanMessage("a", extra=1), HumanMessage("a", extra=True)),
        (
            Document(page_content="a", metadata={"n": 1}),
            Document(page_content="a", metadata={"n": 1.0}),
        ),
        (Send("a", 1), Send("a", True)),
        (Send("a", 1), Send("b", 1)),
        (FunctionProfile("1", 1, 1, 1, 1, "a", 1), FunctionProfile("1", 1, 1, 1, 1, "a", True)),
        (ValueError("a"), ValueError("b")),
        (ValueError("a"), "ValueError('b')"),
        (NAN, 1.0),
    ],
    ids=repr,
)
def test_not_the_same(expected: Any, observed: Any) -> None:
    assert not same(expected, observed)
    assert difference(expected, observed)


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        (NAN, float("nan")),
        ([NAN], [float("nan")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "a", "1": "b"}, {"1": "b", 1: "a"}),
        # The order of a set is another in each process.
        pytest.param({1, "a"}, {"a", 1}, id="sets"),
        (ValueError("a"), ValueError("a")),
        (ValueError("a"), "ValueError('a')"),
        ([ValueError("a")], ["ValueError('a')"]),
        (Send("a", {"x": NAN}), Send("a", {"x": float("nan")})),
    ],
    ids=repr,
)
def test_the_same(expected: Any, observed: Any) -> None:
    assert same(expected, observed)
    assert difference(expected, observed) == ""


EVERYTHING = [value for value in values(*GROUPS) if value.group != "unserializable"]


def test_no_value_of_the_catalogue_is_the_same_as_another_kind() -> None:
    made = [(value.kind, value.make()) for value in EVERYTHING if value.group != "falsy"]
    for kind, expected in made:
        assert all(not same(expected, other) for name, other in made if name != kind)


@pytest.mark.parametrize(
    ("expected", "observed", "line"),
    [
        (1, True, "expected 1 (int), found True (bool)"),
        ({"a": [0, 1.0]}, {"a": [0, 1]}, "['a'][1]: expected 1.0 (float), found 1 (int)"),
        ({"a": 1}, {}, "keys differ: missing 'a' (str)"),
        ({1: 0}, {"1": 0}, "keys differ: missing 1 (int); not expected '1' (str)"),
        ([1], [], "expected [1], 1 long, found 0 long: []"),
        ("a", None, "expected 'a' (str), found None"),
        (HumanMessage("a"), HumanMessage("b"), ".content: expected 'a' (str), found 'b' (str)"),
    ],
)
def test_difference_names_the_first_place(expected: Any, observed: Any, line: str) -> None:
    assert difference(expected, observed) == line


def test_difference_of_huge_values_is_short() -> None:
    assert len(difference("a" * 10**7, "b" * 10**7)) < 400


class Hostile:
    """Raises whatever is asked of it."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


class HostileList(list[int]):
    def __len__(self) -> int:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        return "two\nlines \ud800"


def cyclic() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        [Hostile()],
        HostileList(),
        cyclic(),
        "\ud800 lone",
        "line\nline",
        "x" * 10**7,
        b"x" * 10**7,
        [["x" * 10**6] * 50] * 50,
        {"k" * 10**6: {"a": Hostile()}},
    ],
    ids=[
        "hostile",
        "inside",
        "list",
        "cycle",
        "surrogate",
        "lines",
        "text",
        "bytes",
        "lists",
        "dict",
    ],
)
def test_anything_can_be_shown(value: object) -> None:
    text = show(value, 200)
    assert 0 < len(text) <= 200
    assert text.isprintable()
    assert text.encode()


def test_short_values_are_shown_whole() -> None:
    assert show({"a": [1, None, "b", b"c"]}) == "{'a': [1, None, 'b', b'c']}"


@pytest.mark.parametrize("value", [Value("text", "a"), Value("message-list", 1)], ids=repr)
def test_hostile_answer_is_no_error(value: Value) -> None:
    assert not same(value.make(), Hostile())
    assert "its repr raised RuntimeError" in difference(value.make(), Hostile())
