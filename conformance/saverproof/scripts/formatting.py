"""Lay out source as ``black`` and ``ruff format`` do, or in as few readable lines as possible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from black import format_str
from black.mode import Mode, TargetVersion

WIDTH = 100
"""Characters of a line, as in the kit's own code."""
_MODE = Mode(line_length=WIDTH, target_versions={TargetVersion.PY311})
_UNBROKEN = Mode(line_length=100_000, magic_trailing_comma=False)
"""A layout that is longer than any statement, so that the formatter breaks none."""
_HANGING = 8
"""The indentation of the continuation of a broken line."""
_SHALLOW = 45
"""How many characters of a line may stay empty if the break is then one bracket less deep."""
_OPENING, _CLOSING = "([{", ")]}"
_WITH = re.compile(r" *(?:async )?with ")


def formatted(lines: Iterable[str]) -> list[str]:
    """Return the lines of a module in the formatter's layout."""
    return format_str("\n".join(lines), mode=_MODE).splitlines()


def indented(lines: Iterable[str]) -> list[str]:
    """Return the lines indented by one level."""
    return [f"    {line}" if line else line for line in lines]


def unbroken(lines: Iterable[str]) -> list[str]:
    """Return each statement of a module on one line, however long it is."""
    return format_str("\n".join(lines), mode=_UNBROKEN).splitlines()


def compact(lines: Iterable[str]) -> list[str]:
    """Return the statements without blank lines. Lines that are too long are broken at commas."""
    return [part for line in lines if line.strip() for part in _folded(line)]


def _folded(line: str) -> Iterator[str]:
    keyword = _WITH.match(line)
    if keyword and len(line) > WIDTH and any(not d and c == "," for _, c, d in _code(line)):
        line = f"{keyword[0]}({line[keyword.end() : -1]}):"
    indent = " " * (len(line) - len(line.lstrip()) + _HANGING)
    commas = [(at + 1, depth) for at, one, depth in _code(line) if depth and one == ","]
    start, prefix = 0, ""
    while len(prefix) + len(line) - start > WIDTH:
        end = start + WIDTH - len(prefix)
        # A cut between few brackets is worth so many characters of a line that stay empty.
        fitting = [(at - _SHALLOW * depth, at) for at, depth in commas if start < at <= end]
        if not fitting:
            fitting = [(0, at + 1) for at, one, _ in _code(line) if start < at < end and one == "("]
        if not fitting:
            break
        cut = max(fitting)[1]
        yield prefix + line[start:cut]
        start, prefix = cut + (line[cut] == " "), indent
    yield prefix + line[start:]


def _code(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield each character outside strings and comments: its position, the character, and its depth
    in brackets.
    """
    depth, quote, skip = 0, "", False
    for place, character in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = character == "\\"
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "#":
            return
        else:
            depth -= character in _CLOSING
            yield place, character, depth
            depth += character in _OPENING
