"""Finds the first difference between two values, as one line."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from saverproof.programs.values.comparison import same
from saverproof.programs.values.rendering import show

_WIDTH = 120
"""Characters of each of the two values in a line."""


def difference(expected: Any, observed: Any) -> str:
    """Return the first difference of two values as a short line; "" if they are the same.

    For example `['a'][2]: expected 1.0 (float), found 1 (int)`.
    """
    if same(expected, observed):
        return ""
    path, wanted, found = _narrow("", expected, observed)
    place = f"{path}: " if path else ""
    if type(wanted) is dict and type(found) is dict:
        return f"{place}{_keys(wanted, found)}"
    if type(wanted) is type(found) and hasattr(wanted, "__len__") and len(wanted) != len(found):
        sizes = f"{len(wanted)} long, found {len(found)} long"
        return f"{place}expected {show(wanted, _WIDTH)}, {sizes}: {show(found, _WIDTH)}"
    return f"{place}expected {_typed(wanted)}, found {_typed(found)}"


def _narrow(path: str, expected: Any, observed: Any) -> tuple[str, Any, Any]:
    if type(expected) is type(observed):
        for place, wanted, found in _parts(expected, observed):
            if not same(wanted, found):
                return _narrow(f"{path}{place}", wanted, found)
    return path, expected, observed


def _parts(expected: Any, observed: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the pairs of parts to compare further; none if keys or lengths differ already."""
    if isinstance(expected, dict):
        if _typed_keys(expected) == _typed_keys(observed):
            for key, value in expected.items():
                yield f"[{show(key, 60)}]", value, observed[key]
    elif isinstance(expected, list | tuple) and len(expected) == len(observed):
        for index, (wanted, found) in enumerate(zip(expected, observed, strict=True)):
            yield f"[{index}]", wanted, found
    elif hasattr(expected, "__dict__") and not isinstance(expected, type | BaseException | Enum):
        for name, wanted in vars(expected).items():
            yield f".{name}", wanted, vars(observed).get(name)


def _typed_keys(value: dict[Any, Any]) -> set[tuple[type, Any]]:
    return {(type(key), key) for key in value}


def _keys(expected: dict[Any, Any], observed: dict[Any, Any]) -> str:
    wanted, found = _typed_keys(expected), _typed_keys(observed)
    parts = []
    if missing := [_typed(key) for _, key in wanted - found]:
        parts.append(f"missing {', '.join(sorted(missing)[:5])}")
    if added := [_typed(key) for _, key in found - wanted]:
        parts.append(f"not expected {', '.join(sorted(added)[:5])}")
    return f"keys differ: {'; '.join(parts)}"


def _typed(value: Any) -> str:
    return "None" if value is None else f"{show(value, _WIDTH)} ({type(value).__name__})"
