"""Lays out source as ``ruff format`` does: broken lines, and blank lines around functions.

Makers write one statement a line and no blank lines; ruff itself is not there where scripts are
made. Only what scripts contain is known here; a test compares every maker's scripts with ruff's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

WIDTH = 100
_HANGING = 8
_SHALLOW = 45
_OPENING, _CLOSING = "([{", ")]}"
_COMPOUND = re.compile(
    r"(?:async )?(?:def|class|if|elif|else|for|while|with|try|except|finally)\b(?! =)"
)
_WITH = re.compile(r" *(?:async )?with ")
_DEFINITION = re.compile(r"(?:async def|def|class) |@")
_IMPORT = re.compile(r"(?:from|import) ")
_OPERATORS = (" or ", " and ", " | ")


def formatted(lines: Iterable[str]) -> list[str]:
    """The statements as lines of at most 100 characters, with the blank lines between them."""
    return list(_spaced([one for line in _joined(lines) for one in _separated(line)]))


_STRING = re.compile(r"""("(?:[^"\\]|\\.)*"|#.*)|'([^'"\\]*)'""")


def _in_double_quotes(found: re.Match[str]) -> str:
    return found[1] or f'"{found[2]}"'


def indented(lines: Iterable[str]) -> list[str]:
    """The lines as a block."""
    return [f"    {line}" if line else line for line in lines]


def compact(lines: Iterable[str]) -> list[str]:
    """The statements without blank lines, cut at commas only where they are too long."""
    return [part for line in _joined(lines) for part in _folded(line)]


def _folded(line: str) -> Iterator[str]:
    keyword = _WITH.match(line)
    if keyword and len(line) > WIDTH and len(_split(line[keyword.end() :], ", ")) > 1:
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


# --- one statement a line ----------------------------------------------------------------------


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """The lines, those of a statement that is broken already put together again."""
    statement = ""
    for written in filter(str.strip, lines):
        line = _STRING.sub(_in_double_quotes, written)
        part = line.strip()
        if not statement:
            statement = line
        elif part[0] in _CLOSING:
            statement = statement.removesuffix(",") + part
        else:
            statement += part if statement[-1] in _OPENING else f" {part}"
        if sum((c in _OPENING) - (c in _CLOSING) for _, c, _ in _code(statement)) == 0:
            yield statement
            statement = ""


def _separated(line: str) -> Iterator[str]:
    """The statements of a line: what stands behind a colon or a semicolon goes to the next."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if text.startswith("#"):
        yield line
        return
    if _COMPOUND.match(text):
        colon = next((at for at in _places(text, ":") if text[at + 1 : at + 2] in ("", " ")), None)
        body = "" if colon is None else text[colon + 1 :].strip()
        if colon is not None and body and not body.startswith("#"):
            yield indent + text[: colon + 1]
            yield from _separated(f"{indent}    {body}")
            return
    for statement in _split(text, "; "):
        yield indent + statement.rstrip(";")


# --- blank lines -------------------------------------------------------------------------------


def _spaced(statements: list[str]) -> Iterator[str]:
    """The statements broken into lines, apart as ruff wants them."""
    defined: list[int] = []
    """Indents of the functions and classes that the last statement may have ended."""
    before = ""
    for at, statement in enumerate(statements):
        text = statement.lstrip()
        depth = len(statement) - len(text)
        ended = bool(defined) and defined[-1] >= depth
        while defined and defined[-1] >= depth:
            defined.pop()
        above, gap = before.lstrip(), 0
        same = len(before) - len(above) == depth
        if ended and not above.startswith("@") and not (_is_comment_of_definition(before, depth)):
            gap = 1 if depth else 2
        elif before and same and _begins_definition(statements, at):
            attached = above.startswith(("@", "#"))
            gap = 0 if attached else 1 if depth else 2
        elif _IMPORT.match(above) and same and not _IMPORT.match(text):
            gap = 1
        yield from [""] * gap
        yield from broken(statement)
        if _DEFINITION.match(text) and not text.startswith("@"):
            defined.append(depth)
        before = statement


def _begins_definition(statements: list[str], at: int) -> bool:
    """Whether a function or class begins here, the comment above it included."""
    while statements[at].lstrip().startswith("#") and at + 1 < len(statements):
        at += 1
    return bool(_DEFINITION.match(statements[at].lstrip()))


def _is_comment_of_definition(statement: str, depth: int) -> bool:
    text = statement.lstrip()
    return text.startswith("#") and len(statement) - len(text) == depth


# --- long lines --------------------------------------------------------------------------------


def broken(line: str) -> list[str]:
    """A statement in as many lines as it takes."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    if len(line) <= WIDTH or text.startswith("#"):
        return [line]
    keyword = _WITH.match(text)
    if keyword and text.endswith(":"):
        managers = _split(text[keyword.end() : -1], ", ")
        if len(managers) > 1:
            inner = [part for one in managers for part in _element(one, indent + "    ", ",")]
            return [f"{indent}{keyword[0]}(", *inner, f"{indent}):"]
    head = re.match(r"(?:if|return|while|[\w.]+ [+|]?=) ", text)
    if head:
        end = ":" if text.endswith(":") else ""
        body = text[head.end() : len(text) - len(end)]
        operands = _operands(body)
        hugged = len(operands) == 2 and operands[1].startswith("| ") and body[-1] in _CLOSING
        if len(operands) > 1 and not hugged:
            inner = [indent + "    " + body]
            if len(inner[0]) > WIDTH:
                inner = [part for one in operands for part in _element(one, indent + "    ", "")]
            return [f"{indent}{head[0]}(", *inner, f"{indent}){end}"]
    return _element(text, indent, "")


def _element(text: str, indent: str, tail: str, *, nested: bool = False) -> list[str]:
    """An expression, or a statement with brackets, that ends with ``tail``.

    Only one that is ``nested`` in brackets can be broken at its operators.
    """
    if len(indent) + len(text) + len(tail) <= WIDTH:
        return [f"{indent}{text}{tail}"]
    operands = _operands(text) if nested else []
    if len(operands) > 1:
        *first, last = operands
        lines = [part for one in first for part in _element(one, indent, "", nested=True)]
        return [*lines, *_element(last, indent, tail, nested=True)]
    group = _last_group(text)
    if group is None:
        return [f"{indent}{text}{tail}"]
    start, end = group
    inner = _inside(text[start + 1 : end], indent + "    ", _is_call(text, start))
    return [f"{indent}{text[: start + 1]}", *inner, f"{indent}{text[end:]}{tail}"]


def _inside(text: str, indent: str, call: bool) -> list[str]:
    """What stands between brackets, on lines of its own."""
    clauses = _clauses(text)
    items = _split(text, ", ")
    fits = len(indent) + len(text) <= WIDTH
    if fits and (call or len(clauses) > 1):
        return [indent + text]
    if len(clauses) > 1:
        return [part for clause in clauses for part in _element(clause, indent, "", nested=True)]
    if call and len(items) == 1:
        return _element(text, indent, "", nested=True)
    return [part for item in items for part in _element(item.rstrip(","), indent, ",", nested=True)]


def _is_call(text: str, start: int) -> bool:
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]")


def _operands(text: str) -> list[str]:
    """The operands of the operator that binds least, each but the first behind its operator."""
    for operator in _OPERATORS:
        first, *others = _split(text, operator)
        if others and " if " not in text.partition(operator)[0]:
            return [first, *(operator.lstrip() + other for other in others)]
    return [text]


def _clauses(text: str) -> list[str]:
    """The element of a comprehension and its clauses; the text alone if it is none."""
    places = [at for word in (" for ", " async for ") for at in _places(text, word)]
    places = [at for at in places if text[max(0, at - 6) : at] != " async"]
    if not places:
        return [text]
    places += [at for at in _places(text, " if ") if at > min(places)]
    cuts = [0, *sorted(places), len(text)]
    return [text[a:b].strip() for a, b in pairwise(cuts)]


# --- brackets and strings ----------------------------------------------------------------------


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that stand outside of brackets and strings."""
    parts, start = [], 0
    for place in _places(text, separator):
        parts.append(text[start:place])
        start = place + len(separator)
    return [*parts, text[start:]]


def _places(text: str, wanted: str) -> Iterator[int]:
    """Where a text stands outside of brackets and strings."""
    for place, _, depth in _code(text):
        if depth == 0 and text.startswith(wanted, place):
            yield place


def _last_group(text: str) -> tuple[int, int] | None:
    """Where the last brackets with anything between them open and close."""
    found, start = None, 0
    for place, character, depth in _code(text):
        if character in _OPENING and depth == 0:
            start = place
        elif character in _CLOSING and depth == 0 and place > start + 1:
            found = (start, place)
    return found


def _code(text: str) -> Iterator[tuple[int, str, int]]:
    """Each character outside of strings and comments, and in how many brackets it is."""
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
