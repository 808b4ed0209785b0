"""Programs as JSON and back.

A step is an object that names its class under ``step`` and gives each field that is not at its
default. The codec is driven by the fields of the step classes, so that a new step needs none of
its own.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from saverproof.steps import definitions as steps
from saverproof.steps.definitions import Json, Program, Step
from saverproof.values import Value, show

KINDS: Mapping[str, type[Step]] = {
    name: kind
    for name, kind in vars(steps).items()
    if isinstance(kind, type) and issubclass(kind, Step) and kind is not Step
}
"""The step classes by the name they have in JSON."""


def to_json(program: Program) -> list[dict[str, Json]]:
    """A program as JSON: one object a step."""
    return [step_to_json(step) for step in program]


def from_json(data: Json) -> Program:
    """The program that :func:`to_json` gave.

    Raises:
        ValueError: the data is no program; the one line says which step, and what was expected.
    """
    if not isinstance(data, list):
        raise ValueError(f"program: found {show(data, 60)}, expected a list of steps")
    program = []
    for number, step in enumerate(data, 1):
        try:
            program.append(step_from_json(step))
        except ValueError as error:
            raise ValueError(f"step {number}: {error}") from None
    return tuple(program)


def step_to_json(step: Step) -> dict[str, Json]:
    """A step as a JSON object."""
    return {"step": type(step).__name__, **_fields_to_json(step)}


def step_from_json(data: Json) -> Step:
    """The step that :func:`step_to_json` gave.

    Raises:
        ValueError: the data is no step of a known class, or a field is unknown, missing or ill.
    """
    if not isinstance(data, dict):
        raise ValueError(f"found {show(data, 60)}, expected an object with the key 'step'")
    name = data.get("step")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"step is {show(name, 60)}, expected one of {', '.join(KINDS)}")
    given = {key: value for key, value in data.items() if key != "step"}
    step: Step = _decoded(kind, given, kind.__name__)
    return step


def _fields_to_json(value: Any) -> dict[str, Json]:
    return {
        field.name: _encoded(getattr(value, field.name))
        for field in fields(value)
        if field.default is MISSING or getattr(value, field.name) != field.default
    }


def _encoded(value: Any) -> Json:
    if isinstance(value, Value):
        return value.to_json()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [_encoded(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _encoded(item) for key, item in value.items()}
    return _fields_to_json(value) if is_dataclass(value) else value


@cache
def _types(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _decoded(kind: Any, data: Json, where: str) -> Any:
    """Data as a value of an annotated type; ``where`` names the place for messages."""
    if kind is Any:
        return data
    if kind is Value:
        return _at(where, lambda: Value.from_json(data))
    if get_origin(kind) is tuple:
        return _decoded_tuple(get_args(kind), data, where)
    if get_origin(kind) in (Union, types.UnionType):
        return _decoded_optional(get_args(kind), data, where)
    if get_origin(kind) is Mapping:
        return _expected(dict, data, where)
    if issubclass(kind, StrEnum):
        return _at(where, lambda: kind(data))
    if is_dataclass(kind):
        return _decoded_fields(kind, _expected(dict, data, where), where)
    return _expected(kind, data, where)


def _at(where: str, make: Any) -> Any:
    try:
        return make()
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _expected(kind: type, data: Json, where: str) -> Any:
    if type(data) is not kind:
        raise ValueError(f"{where} is {show(data, 60)}, expected {_NAMES[kind]}")
    return data


_NAMES = {str: "a text", int: "an integer", bool: "true or false", dict: "an object"}


def _decoded_tuple(kinds: tuple[Any, ...], data: Json, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        raise ValueError(f"{where} is {show(data, 60)}, expected a list")
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(data)
    if len(kinds) != len(data):
        raise ValueError(f"{where} has {len(data)} items, expected {len(kinds)}")
    pairs = zip(kinds, data, strict=True)
    return tuple(_decoded(kind, item, f"{where}[{n}]") for n, (kind, item) in enumerate(pairs))


def _decoded_optional(kinds: tuple[Any, ...], data: Json, where: str) -> Any:
    if data is None:
        return None
    (kind,) = (kind for kind in kinds if kind is not type(None))
    return _decoded(kind, data, where)


def _decoded_fields(kind: Any, data: dict[str, Json], where: str) -> Any:
    known = {field.name: field for field in fields(kind)}
    for name in data:
        if name not in known:
            expected = f"one of {', '.join(known)}" if known else "none"
            raise ValueError(f"{where} has a field {show(name, 60)}, expected {expected}")
    for name, field in known.items():
        if name not in data and field.default is MISSING:
            raise ValueError(f"{where} lacks the field {name!r}")
    hints = _types(kind)
    made = {name: _decoded(hints[name], value, f"{where}.{name}") for name, value in data.items()}
    return kind(**made)
