"""Short programs that store every form of every kind of value, in channels and in writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saverproof.programs.small import THREAD, checkpoint
from saverproof.programs.steps.definitions import GetTuple, ListTuples, Program, Put, PutWrites
from saverproof.programs.values import Value, values

_AT_ONCE = 24
"""How many values one program stores together."""
_OF_BOTH = ("plain", "falsy", "scalar", "container", "object", "message")


def _together(stored: tuple[Value, ...], written: tuple[Value, ...]) -> Program:
    """Return a program that stores these values together, each in a channel or write of its own."""
    return (
        replace(checkpoint(THREAD, 1), changes=tuple(_named(stored))),
        PutWrites(THREAD, "", 1, 1, tuple(_named(written))),
        GetTuple(THREAD),
        ListTuples(THREAD),
    )


def _batches(many: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    return (many[start : start + _AT_ONCE] for start in range(0, len(many), _AT_ONCE))


def _named(many: tuple[Value, ...]) -> Iterator[tuple[str, Value]]:
    return ((f"value_{number}", value) for number, value in enumerate(many))


EQUAL = (
    *(Value("integer", 1), Value("boolean", 1), Value("float", 2), Value("falsy", 2)),
    *(Value("falsy", 3), Value("falsy", 4), Value("decimal", 2), Value("integer", 0)),
)
"""Values in an order in which neighbours may be equal in Python, but are not the same."""


def _one_after_another() -> Iterator[Put]:
    """Yield puts that give a channel a value which equals the one before, or prints like it."""
    for number, value in enumerate(EQUAL, 1):
        yield Put(THREAD, "", number, number - 1 or None, changes=(("count", value),))


def _printing_alike() -> Iterator[Value]:
    """Yield values with the texts that print like them, and an enum member with its number."""
    for kind in (
        *("none", "boolean", "float", "decimal", "date", "time", "datetime", "timedelta"),
        *("uuid", "path", "text-enum", "integer-enum"),
    ):
        value = Value(kind, 0)
        yield value
        yield Value("text", str(value.make()))
    yield Value("integer", int(Value("integer-enum", 0).make()))


PRINTING_ALIKE = tuple(_printing_alike())

NEARLY_ALIKE = tuple(
    Value(kind, seed)
    for kind in ("alike-but-in-the-middle", "alike-but-at-the-end")
    for seed in range(4)
)
"""Two texts, and two byte strings, of each kind, which differ in one place only."""

EVERY_VALUE: tuple[Program, ...] = (
    *(_together(many, many) for many in _batches(values(*_OF_BOTH))),
    _together(values("wide"), values("wide")),
    _together((), values("exception")),
    (*_one_after_another(), ListTuples(THREAD)),
    _together(PRINTING_ALIKE, PRINTING_ALIKE),
    _together(NEARLY_ALIKE, NEARLY_ALIKE),
)
