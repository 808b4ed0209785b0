"""Simpler forms of a step: with fields at their defaults, and plainer values in the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from itertools import count
from typing import Any

from saverproof.programs.rewriting.renaming import PLAIN_THREAD, is_plain, names_of
from saverproof.programs.steps.definitions import (
    Extras,
    NextVersions,
    Program,
    Put,
    PutHistory,
    PutWrites,
    Step,
    WalkPages,
)
from saverproof.programs.values import Value

_TOO_MANY_FOR_EACH = 64
"""The number of items of a field above which they are not left out one by one. A flaw that needs so
many items depends only on their approximate number.
"""


def simpler(step: Step, program: Program) -> Iterator[Step]:
    """Yield simpler forms of a step: first the simplest of all, then one field after the other."""
    match step:
        case Put(thread, namespace, number):
            yield Put(thread, namespace, number)
            yield Put(thread, namespace, number, changes=step.changes)
        case PutWrites(thread, namespace, number, task, writes):
            yield PutWrites(thread, namespace, number, task, writes)
    yield from _one_field_simpler(step, program)


def _one_field_simpler(step: Any, program: Program) -> Iterator[Any]:
    for field in fields(step):
        value = getattr(step, field.name)
        if field.default is not MISSING and value != field.default:
            yield replace(step, **{field.name: field.default})
        for plainer in _plainer(step, field.name, value, program):
            yield replace(step, **{field.name: plainer})


def _plainer(step: Step, name: str, value: Any, program: Program) -> Iterator[Any]:
    """Yield plainer values of one field, without its default."""
    match name, value:
        case "thread", str():
            yield PLAIN_THREAD
        case "namespace", str():
            yield ""
        case (("size" | "count"), int()) if isinstance(step, WalkPages | NextVersions):
            yield from {1, max(value // 2, 1)}
        case "count", int() if isinstance(step, PutHistory):
            yield from dict.fromkeys(max(n, 1) for n in (1, value // 2, value * 7 // 8))
        case _, tuple():
            yield from _fewer(value)
            yield from _plainer_items(value, program)
        case "arguments", Mapping():
            yield from ({**value, k: n} for k, old in value.items() for n in _smaller(old))
        case _, Mapping():
            yield from ({k: v for k, v in value.items() if k != key} for key in value)
        case _, Extras():
            yield from _one_field_simpler(value, program)


def _smaller(value: Any) -> Iterator[Any]:
    """Yield smaller values of an argument; illegal ones are left out when the program is run."""
    if value is True:
        yield False
    elif type(value) is int:
        # Ever smaller steps find the least number that a rule allows.
        steps = (value // 2, value - value // 4, value - value // 16, value - 1)
        yield from dict.fromkeys((0, 1, *steps))


def _fewer(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if len(items) > _TOO_MANY_FOR_EACH:
        kept = (len(items) // 2, len(items) * 7 // 8)
        yield from (items[:size] for size in kept)
        return
    for size in sorted({len(items) // 2, 1} - {0}, reverse=True):
        for start in range(0, len(items), size):
            yield items[:start] + items[start + size :]


def _plainer_items(items: tuple[Any, ...], program: Program) -> Iterator[tuple[Any, ...]]:
    for place, item in enumerate(items if len(items) <= _TOO_MANY_FOR_EACH else ()):
        match item:
            case (name, Value() as value) if not is_plain(value):
                plain = (name, _unlike_others(program))
                yield (*items[:place], plain, *items[place + 1 :])


def _unlike_others(program: Program) -> Value:
    """Return the smallest integer that the program does not store, so that differing values still
    differ.
    """
    stored = set(names_of(program, "value"))
    return next(v for n in count(1) if (v := Value("integer", n)) not in stored)
