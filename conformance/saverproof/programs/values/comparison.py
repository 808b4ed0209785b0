"""Exact comparison: type and value, all the way down."""

from __future__ import annotations

import dataclasses
import datetime
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from math import copysign
from typing import Any

_MISSING = object()
_PLAIN: frozenset[type] = frozenset({str, int, bool, type(None), bytes, bytearray})


def same(expected: Any, observed: Any) -> bool:
    """Return whether two values are equal and of the same types, at every depth.

    True is not 1, 1 is not 1.0, -0.0 is not 0.0, and NaN is NaN. The order of dict keys does not
    count. Times with a zone are the same if clock and offset are. An expected exception is the same
    as its repr text, since that is what LangGraph's serializer keeps of it.
    """
    kind = type(expected)
    if kind is not type(observed):
        return (
            isinstance(expected, BaseException)
            and type(observed) is str
            and observed == repr(expected)
        )
    if kind in _PLAIN:
        return bool(expected == observed)
    compare = _COMPARISONS.get(kind)
    if compare is not None:
        return compare(expected, observed)
    return _same_objects(expected, observed)


def _same_dicts(expected: dict[Any, Any], observed: dict[Any, Any]) -> bool:
    if len(expected) != len(observed):
        return False
    for (key, value), (other_key, other) in zip(expected.items(), observed.items(), strict=True):
        if key is not other_key and (type(key) is not type(other_key) or key != other_key):
            return _same_reordered(expected, observed)
        kind = type(value)
        if kind in _PLAIN:
            if kind is not type(other) or value != other:
                return False
        elif not same(value, other):
            return False
    return True


def _same_reordered(expected: dict[Any, Any], observed: dict[Any, Any]) -> bool:
    # Keys that are equal but of different types (1 and True) must not meet.
    by_key = {(type(key), key): value for key, value in observed.items()}
    return all(
        same(value, by_key.get((type(key), key), _MISSING)) for key, value in expected.items()
    )


def _same_sequences(expected: Any, observed: Any) -> bool:
    return len(expected) == len(observed) and all(map(same, expected, observed))


def _same_sets(expected: Any, observed: Any) -> bool:
    return len(expected) == len(observed) and all(
        any(same(element, other) for other in observed) for element in expected
    )


def _same_floats(expected: float, observed: float) -> bool:
    if expected == observed:
        return expected != 0.0 or copysign(1.0, expected) == copysign(1.0, observed)
    return expected != expected and observed != observed


def _same_deques(expected: deque[Any], observed: deque[Any]) -> bool:
    return expected.maxlen == observed.maxlen and _same_sequences(expected, observed)


def _same_clocks(expected: Any, observed: Any) -> bool:
    return bool(
        expected.replace(tzinfo=None) == observed.replace(tzinfo=None)
        and expected.utcoffset() == observed.utcoffset()
    )


def _same_decimals(expected: Decimal, observed: Decimal) -> bool:
    return str(expected) == str(observed)


_COMPARISONS: Mapping[type, Callable[[Any, Any], bool]] = {
    dict: _same_dicts,
    list: _same_sequences,
    tuple: _same_sequences,
    set: _same_sets,
    frozenset: _same_sets,
    deque: _same_deques,
    float: _same_floats,
    datetime.datetime: _same_clocks,
    datetime.time: _same_clocks,
    Decimal: _same_decimals,
}


def _same_objects(expected: Any, observed: Any) -> bool:
    """Return whether two objects of one class are the same.

    Exceptions are compared by repr, other objects by their fields, or by == if they have none.
    """
    if isinstance(expected, BaseException):
        return repr(expected) == repr(observed)
    if isinstance(expected, tuple):
        return _same_sequences(expected, observed)
    fields = _fields(expected)
    if fields is None:
        return bool(expected == observed)
    return _same_dicts(fields, _fields(observed) or {})


def _fields(value: Any) -> dict[str, Any] | None:
    """Return an object's fields; None if its own == has to decide."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names: Iterable[str] = (field.name for field in dataclasses.fields(value))
    elif hasattr(value, "__pydantic_fields__"):
        return {**vars(value), **(value.__pydantic_extra__ or {})}
    elif type(value).__name__ == "Send" and hasattr(value, "node"):
        # LangGraph's own == takes Send("a", 1) for Send("a", True).
        names = type(value).__slots__
    else:
        return None
    return {name: getattr(value, name, None) for name in names}
