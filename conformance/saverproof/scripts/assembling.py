"""The top of a script: what is promised, and the imports that its lines need."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable

from saverproof.scripts.opening import Opening
from saverproof.scripts.source import WIDTH, folded, quoted

_STANDARD = (
    *("asyncio", "contextlib", "os", "pathlib", "signal", "sqlite3", "subprocess", "sys"),
    "tempfile",
)


def head(promise: str, name: str) -> list[str]:
    """The docstring, and what the script's ending means."""
    safe = promise.replace("\\", "\\\\").replace('"', "'")
    *doc, last = textwrap.wrap(f'"""{safe}', WIDTH - 3)
    return [*doc, f'{last}"""', f"# Exits with 1 while {name} breaks this promise, else with 0."]


def imports(opening: Opening, more: Iterable[str], code: str) -> list[str]:
    """Import lines: of the standard library as far as ``code`` uses it, ``more``, the opening's."""
    own = {f"import {name}" for name in _STANDARD if re.search(rf"\b{name}\.", code)}
    lines = sorted({*own, *more, *opening.imports})
    standard = [line for line in lines if line.split()[1].split(".")[0] in sys.stdlib_module_names]
    paths = [f"sys.path.insert(0, {quoted(folder)})" for folder in opening.folders]
    return [*standard, *(line for line in lines if line not in standard), *paths, *opening.local]


def indented(lines: Iterable[str]) -> list[str]:
    """The lines as a block."""
    return [f"    {line}" for line in lines]


def all_folded(lines: Iterable[str]) -> list[str]:
    """The lines, long ones cut."""
    return [part for line in lines for part in folded(line)]
