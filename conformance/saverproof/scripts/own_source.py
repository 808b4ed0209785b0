"""The rules and invariants of an author as functions of a script."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any


@dataclass(frozen=True, slots=True)
class OwnSource:
    """The function of one rule or invariant as source, with the imports that it needs."""

    name: str
    lines: tuple[str, ...]
    imports: frozenset[str]


@dataclass(frozen=True, slots=True)
class OwnSources:
    """The sources of an author's rules and invariants, and their statements, by contract id."""

    functions: Mapping[str, OwnSource]
    statements: Mapping[str, str]


NO_SOURCES = OwnSources({}, {})


def own_source(function: Callable[..., Any]) -> OwnSource | None:
    """Return the source of a method without its decorators, or None if it cannot be read."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        (definition,) = ast.parse(source).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    if not isinstance(definition, ast.FunctionDef):
        return None
    definition.decorator_list = []
    used = {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}
    known = inspect.unwrap(function).__globals__
    imports = {line for name in used if name in known for line in _import(name, known[name])}
    lines = tuple(ast.unparse(definition).splitlines())
    return OwnSource(definition.name, lines, frozenset(imports))


def _import(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, ModuleType):
        alias = "" if value.__name__ == name else f" as {name}"
        return (f"import {value.__name__}{alias}",)
    module, real = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not module or not real or "." in real:
        return ()
    return (f"from {module} import {real}" + ("" if real == name else f" as {name}"),)
