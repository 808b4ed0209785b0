"""Converts dataclasses, and programs made of them, to JSON and back.

A JSON object has each field that differs from its default. A step also has its class name under
``step``. The codec reads the fields of the classes, so that a new class needs no codec of its own.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from saverproof.programs.steps.definitions import KINDS, Json
from saverproof.programs.values import Value, show

T = TypeVar("T")


def encode(value: Any) -> Json:
    """Return a dataclass as a JSON object, or a tuple of dataclasses as a list."""
    if isinstance(value, Value):
        return value.to_json()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    return _fields_to_json(value) if is_dataclass(value) else value


def decode(kind: type[T], data: Json) -> T:
    """Return the dataclass that :func:`encode` converted.

    Raises:
        ValueError: the data has another form, or a field is unknown, missing or wrong.
    """
    annotated: Any = kind
    value: T = _decoder(annotated)(data, kind.__name__)
    return value


@dataclass(frozen=True, slots=True)
class ProgramCodec(Generic[T]):
    """A converter of programs to JSON, with one object for each step.

    ``kinds`` are the classes of steps by name. ``rare`` is a module that registers more classes. It
    is imported only when a step has none of the known names.
    """

    kinds: Mapping[str, type[T]]
    rare: str = ""

    def to_json(self, program: tuple[T, ...]) -> list[dict[str, Json]]:
        """Return a program as JSON, with one object for each step."""
        return [self.step_to_json(step) for step in program]

    def from_json(self, data: Json) -> tuple[T, ...]:
        """Return the program that :meth:`to_json` converted.

        Raises:
            ValueError: the data is no program; the message names the step and what was expected.
        """
        if not isinstance(data, list):
            raise ValueError(f"program: found {show(data, 60)}, expected a list of steps")
        program = []
        for number, step in enumerate(data, 1):
            try:
                program.append(self.step_from_json(step))
            except ValueError as error:
                raise ValueError(f"step {number}: {error}") from None
        return tuple(program)

    def step_to_json(self, step: T) -> dict[str, Json]:
        """Return a step as a JSON object."""
        return {"step": type(step).__name__, **_fields_to_json(step)}

    def step_from_json(self, data: Json) -> T:
        """Return the step that :meth:`step_to_json` converted.

        Raises:
            ValueError: the class is unknown, or a field is unknown, missing or wrong.
        """
        if not isinstance(data, dict):
            raise ValueError(f"found {show(data, 60)}, expected an object with the key 'step'")
        name = data.get("step")
        kind = self._kind(name) if isinstance(name, str) else None
        if kind is None:
            expected = ", ".join(self.kinds)
            raise ValueError(f"step is {show(name, 60)}, expected one of {expected}")
        return decode(kind, {key: value for key, value in data.items() if key != "step"})

    def _kind(self, name: str) -> type[T] | None:
        if name not in self.kinds and self.rare:
            import_module(self.rare)
        return self.kinds.get(name)


# Imported by name and only if needed: scenes belong to a much higher layer.
_STEPS = ProgramCodec(KINDS, rare="saverproof.judging.scenes")
to_json, from_json = _STEPS.to_json, _STEPS.from_json
step_to_json, step_from_json = _STEPS.step_to_json, _STEPS.step_from_json


def _fields_to_json(value: Any) -> dict[str, Json]:
    encoded: dict[str, Json] = {}
    kind: Any = type(value)
    for name, default in _defaults(kind).items():
        given = getattr(value, name)
        if default is MISSING or given != default:
            encoded[name] = given if type(given) in _PLAIN else encode(given)
    return encoded


_PLAIN = frozenset({str, int, float, bool, type(None)})


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind)}


Decoder = Callable[[Json, str], Any]
"""A function that makes a value from JSON; the text names the place for error messages."""


@cache
def _decoder(kind: Any) -> Decoder:
    """Return the decoder of an annotated type. It is made once, since histories have many
    events.
    """
    if kind is Any:
        return lambda data, where: data
    if kind is Value:
        return _checked(Value.from_json)
    if get_origin(kind) is tuple:
        return _tuple_decoder(get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        (one,) = (one for one in get_args(kind) if one is not type(None))
        decode_one = _decoder(one)
        return lambda data, where: None if data is None else decode_one(data, where)
    if get_origin(kind) is Mapping:
        return partial(_expected, dict)
    if issubclass(kind, StrEnum):
        return _checked(kind)
    return _fields_decoder(kind) if is_dataclass(kind) else partial(_expected, kind)


def _checked(make: Callable[[Json], Any]) -> Decoder:
    def decoded(data: Json, where: str) -> Any:
        try:
            return make(data)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None

    return decoded


def _expected(kind: type, data: Json, where: str) -> Any:
    if type(data) is kind:
        return data
    if kind is float and type(data) is int:
        return float(data)
    raise ValueError(f"{where} is {show(data, 60)}, expected {_NAMES[kind]}")


_NAMES = {
    str: "a text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    dict: "an object",
}


def _tuple_decoder(kinds: tuple[Any, ...]) -> Decoder:
    each = tuple(_decoder(kind) for kind in kinds if kind is not Ellipsis)
    endless = kinds[-1] is Ellipsis

    def decoded(data: Json, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise ValueError(f"{where} is {show(data, 60)}, expected a list")
        decoders = each * len(data) if endless else each
        if len(decoders) != len(data):
            raise ValueError(f"{where} has {len(data)} items, expected {len(decoders)}")
        pairs = zip(decoders, data, strict=True)
        return tuple(one(item, f"{where}[{n}]") for n, (one, item) in enumerate(pairs))

    return decoded


def _fields_decoder(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    decoders = {name: _decoder(hints[name]) for name in _defaults(kind)}
    needed = [name for name, default in _defaults(kind).items() if default is MISSING]

    def decoded(data: Json, where: str) -> Any:
        given = _expected(dict, data, where)
        for name in given:
            if name not in decoders:
                expected = f"one of {', '.join(decoders)}" if decoders else "none"
                raise ValueError(f"{where} has a field {show(name, 60)}, expected {expected}")
        for name in needed:
            if name not in given:
                raise ValueError(f"{where} lacks the field {name!r}")
        made = {name: decoders[name](value, f"{where}.{name}") for name, value in given.items()}
        return kind(**made)

    return decoded
