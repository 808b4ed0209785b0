"""The text by which scripts open a target's saver, as a function that opens it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from saverproof.errors import TargetError
from saverproof.savers.workspace import Workspace

EXPECTED = "expected statements and, at their end, an expression that gives a context manager"


def parts_of(text: str) -> tuple[list[ast.stmt], ast.Expr]:
    """Return the statements of an opening text, and the expression at its end.

    Raises:
        ValueError: the text is no Python, or does not end with an expression.
    """
    try:
        *statements, last = ast.parse(inspect.cleandoc(text)).body
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"is no Python: {error}") from None
    if not isinstance(last, ast.Expr):
        raise ValueError(f"ends with {ast.unparse(last).splitlines()[0]!r:.60}")
    return statements, last


def function_of(text: str, name: str) -> Callable[[Workspace], Any]:
    """Return what an opening text does as a function of the workspace; ``name`` is the target's.

    Raises:
        TargetError: the text is no Python, or does not end with an expression.
    """
    try:
        statements, last = parts_of(text)
    except ValueError as error:
        raise TargetError(f"target {name!r}: opening {error}; {EXPECTED}") from None
    before = compile(ast.Module(statements, []), "<opening>", "exec")
    value = compile(ast.Expression(last.value), "<opening>", "eval")

    def opening(workspace: Workspace) -> Any:
        names = {"path": str(workspace.path), "dsn": workspace.dsn, "__name__": "__opening__"}
        exec(before, names)
        return eval(value, names)

    return opening
