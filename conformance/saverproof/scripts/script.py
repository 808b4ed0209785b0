"""A whole script: the promise, the imports, how the saver is opened, and a family's body."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from saverproof.contracts.registry import UnknownContract, contract
from saverproof.scripts.clashes import without_clashes
from saverproof.scripts.formatting import WIDTH, compact, formatted, indented, unbroken
from saverproof.scripts.imports import import_lines
from saverproof.scripts.opening import Opening
from saverproof.scripts.source import quoted
from saverproof_faults.scripted import UNDECIDED

MEANING = (
    "# Exits with 1 while {saver} breaks this promise, 0 when it keeps it, 2 if neither is seen."
)
"""The comment at the head of a script, with a place for the saver's name."""

UNDECIDED_IF_RAISED = (
    'sys.excepthook = lambda *e: (e[1].add_note("undecided"), '
    f"sys.__excepthook__(*e), sys.exit({UNDECIDED}))"
)
"""The statement by which a script exits with 2 on any exception that it does not catch: a package
or a server is missing, the saver cannot be opened, or an earlier step fails. Python's own exit
status would be 1, which says that the flaw was seen. It is one expression because functions take
more lines, and scripts should be short.
"""

LONGEST = 43
"""The number of lines above which a script is laid out densely, so that it stays readable at one
look: forty, the two by which an error ends it with 2, and one that removes what a hang leaves.
"""


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
    opening, own = without_clashes(opening, list(body))
    statements = [*opening.before, *own]
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
    at = opening.folders_at
    paths = [f"sys.path.insert({at}, {quoted(folder)})" for folder in opening.folders]
    needed = import_lines("\n".join([UNDECIDED_IF_RAISED, *paths, code]), more, opening.imports)
    local = import_lines("", (), opening.local)
    # The standard library is always there; what comes after it may not be.
    standard = needed.index("") if "" in needed else len(needed)
    needed[standard:standard] = ["", UNDECIDED_IF_RAISED]
    return [*needed, *(["", *paths] if paths else []), *local]


def _docstring(promise: str) -> list[str]:
    safe = promise.replace("\\", "\\\\").replace('"""', "'''")
    *doc, last = textwrap.wrap(f'"""{safe}', WIDTH - 3)
    return [*doc, f'{last} """' if last.endswith('"') else f'{last}"""']


def complaint(expected: str, observed: str) -> str:
    """Return the statement that ends a script; both arguments are parts of an f-string."""
    return f'raise SystemExit(f"{_message(expected, observed)}")'


def complaint_by_force(expected: str, observed: str) -> list[str]:
    """Return the statements that end a script in which a thread hangs: Python would wait for it at
    its end, if it belongs to a pool.
    """
    return [
        f'sys.stderr.write(f"{_message(expected, observed)}\\n")',
        "os._exit(1)  # at its usual end, Python waits for pools",
    ]


def _message(expected: str, observed: str) -> str:
    return f"{{__doc__}}\\nexpected: {expected}\\nobserved: {observed}"


def main(lines: Iterable[str], *, coroutine: bool) -> list[str]:
    """Return the lines, inside a coroutine that is run if they need one."""
    if not coroutine:
        return list(lines)
    return ["async def main():", *indented(lines), "asyncio.run(main())"]
