"""Pieces of Python source: literals, and long lines cut at their commas."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

WIDTH = 100
_HANGING = 8
_PENALTY = 45


def literal(value: Any) -> str:
    """Plain JSON data as an expression, in ASCII, so that names that look alike stay apart."""
    if isinstance(value, Mapping):
        return dict_source({key: literal(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return quoted(value) if isinstance(value, str) else ascii(value)


def quoted(text: str) -> str:
    """A text in double quotes, in ASCII."""
    inner = ascii(text)
    if inner[0] == '"' or '"' in inner:
        return inner
    return f'"{inner[1:-1]}"'


def dict_source(items: Mapping[str, str]) -> str:
    """A dict display whose values are source already."""
    return f"{{{', '.join(f'{literal(key)}: {item}' for key, item in items.items())}}}"


def folded(line: str) -> list[str]:
    """A line of code, cut after commas inside brackets where it is too long."""
    indent = len(line) - len(line.lstrip())
    hanging = " " * (indent + _HANGING)
    places = list(_commas(line))
    lines: list[str] = []
    start, prefix = 0, ""
    while len(prefix) + len(line) - start > WIDTH:
        end = start + WIDTH - len(prefix)
        fitting = [(at - _PENALTY * depth, at) for at, depth in places if start < at <= end]
        if not fitting:
            break
        cut = max(fitting)[1]
        lines.append(prefix + line[start:cut])
        start, prefix = cut + 1, hanging
    return [*lines, prefix + line[start:]]


def _commas(line: str) -> Iterator[tuple[int, int]]:
    """Where a line may be cut, which is behind each comma in brackets, and how deep that is."""
    depth = 0
    for place, character in _outside_strings(line):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth and line[place + 1 : place + 2] == " ":
            yield place + 1, depth


def _outside_strings(line: str) -> Iterator[tuple[int, str]]:
    quote, skip = "", False
    for place, character in enumerate(line):
        if skip:
            skip = False
        elif quote:
            skip = character == "\\"
            if character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        else:
            yield place, character
