"""A whole script: the promise, the imports, how the saver is opened, and a family's body."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from saverproof.contracts.registry import UnknownContract, contract
from saverproof.scripts.formatting import WIDTH, compact, formatted, indented, unbroken
from saverproof.scripts.imports import import_lines
from saverproof.scripts.opening import Opening
from saverproof.scripts.source import quoted

MEANING = "# Exits with 1 while {saver} breaks this promise, with 0 when it keeps it."
"""The comment at the head of a script, with a place for the saver's name."""

LONGEST = 40
"""Lines from which a script is laid out densely, so that it can be read at one look."""


def promise_of(contract_id: str, broken: str = "") -> str:
    """Return the first line of a script's message: a contract's id, and its statement.

    If ``broken`` is given, the statement is that contract's.
    """
    return f"{contract_id}: {statement_of(broken or contract_id)}"


def statement_of(contract_id: str) -> str:
    """Return the statement of a contract, or its id if the registry does not know it."""
    try:
        return contract(contract_id).statement
    except UnknownContract:
        return contract_id


def script(
    promise: str, saver: str, opening: Opening, body: Iterable[str], imports: Iterable[str] = ()
) -> str:
    """Return the source of a script.

    ``body`` has one statement a line and no blank lines. ``imports`` are import statements that it
    may need besides the usual ones. ``saver`` is the target's name.
    """
    statements = [*opening.before, *body]
    meaning = MEANING.format(saver=saver)
    promised, needed = _docstring(promise), _imports("\n".join(statements), opening, imports)
    lines = formatted([*promised, "", meaning, *needed, "", *statements])
    if len(lines) > LONGEST:
        # Makers write a body densely, templates one argument a line.
        dense = (
            compact([*promised, *needed, *found]) for found in (statements, unbroken(statements))
        )
        lines = next(([_AS_IT_IS, *one] for one in dense if len(one) < LONGEST), lines)
    return "\n".join(lines) + "\n"


_AS_IT_IS = "# fmt: off"
"""The comment that keeps formatters from expanding a densely laid out script."""


def _imports(code: str, opening: Opening, more: Iterable[str]) -> list[str]:
    paths = [f"sys.path.insert(0, {quoted(folder)})" for folder in opening.folders]
    needed = import_lines("\n".join([*paths, code]), more, opening.imports)
    local = import_lines("", (), opening.local)
    return [*needed, *(["", *paths] if paths else []), *local]


def _docstring(promise: str) -> list[str]:
    safe = promise.replace("\\", "\\\\").replace('"""', "'''")
    *doc, last = textwrap.wrap(f'"""{safe}', WIDTH - 3)
    return [*doc, f'{last} """' if last.endswith('"') else f'{last}"""']


def complaint(expected: str, observed: str) -> str:
    """Return the statement that ends a script; both arguments are parts of an f-string."""
    return f'raise SystemExit(f"{{__doc__}}\\nexpected: {expected}\\nobserved: {observed}")'


def main(lines: Iterable[str], *, coroutine: bool) -> list[str]:
    """Return the lines, inside a coroutine that is run if they need one."""
    if not coroutine:
        return list(lines)
    return ["async def main():", *indented(lines), "asyncio.run(main())"]
