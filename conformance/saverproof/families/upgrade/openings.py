"""Says how a process that must not import the kit opens a target's store. It does so by the
target's own source.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saverproof.families.upgrade import plain_saver
from saverproof.savers.targets.target import Target
from saverproof.scripts.opening import opening_of

PLAIN_SAVER = "contextlib.closing(PlainSaver(path + '/plain.db'))"
NO_OPENING = (
    "the target says nothing of how its saver is opened without the kit: expected "
    "target(opening=...), or a target without a server in a module that can be imported"
)


@dataclass(frozen=True, slots=True)
class StoreOpening:
    """The statements, and the expression, that open the saver at ``path`` or ``dsn``. The modules
    that they import may lie in ``folders``.
    """

    statements: tuple[str, ...]
    expression: str
    folders: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain data, for the process of a release."""
        return asdict(self)


def plain_opening() -> StoreOpening:
    """Return how the plain saver is opened, in any release of LangGraph."""
    text = Path(plain_saver.__file__).read_text(encoding="utf-8")
    return StoreOpening((text, "import contextlib"), PLAIN_SAVER)


def store_opening(target: Target) -> StoreOpening | None:
    """Return how the process of a release opens the target; None if it cannot."""
    if target.opening is not None:
        try:
            *statements, last = ast.parse(inspect.cleandoc(target.opening)).body
        except (SyntaxError, ValueError):
            return None
        lines = tuple(map(ast.unparse, statements))
        return StoreOpening(lines, ast.unparse(last)) if isinstance(last, ast.Expr) else None
    found = None if target.server is not None else opening_of(target)
    if found is None:
        return None
    lines = (*found.imports, *found.local, *found.before)
    return StoreOpening(lines, found.expression, found.folders)
