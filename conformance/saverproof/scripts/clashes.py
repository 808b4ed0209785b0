"""Rename what a target's opening names as the script itself names something else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from saverproof.scripts.imports import USUAL
from saverproof.scripts.opening import Opening

_OF_THE_KIT = ("saverproof.", "saverproof_faults.")
_PLACE = "place_of_the_opening"
"""The name that stands for the opening's expression while the names around it are looked up."""


def without_clashes(opening: Opening, body: Sequence[str]) -> tuple[Opening, list[str]]:
    """Return the opening and the body, in which no name of the opening means two things.

    An author may call a function ``opened`` or ``config``, as scripts do.
    """
    whole = re.compile(rf"(?<![\w.]){re.escape(opening.expression)}(?!\w)")
    apart = [whole.sub(_PLACE, line) for line in body]
    own = _named_by(opening)
    taken = _bound(_nodes(apart)) | {name for name in _used(apart) & _USUAL.keys() if name in own}
    clashing = {
        name: f"{name}_of_target"
        for name, meaning in own.items()
        if name in taken and meaning != _USUAL.get(name)
    }
    if not clashing:
        return opening, list(body)
    renamed = replace(
        opening,
        expression=_renamed(opening.expression, clashing),
        imports=tuple(_aliased(line, clashing) for line in opening.imports),
        local=tuple(_aliased(line, clashing) for line in opening.local),
        before=tuple(_renamed("\n".join(opening.before), clashing).splitlines()),
    )
    names = "|".join(map(re.escape, clashing))
    of_target = re.compile(rf"(?<![\w.])({names})(?=\.(?:drop|expiry|server)\b)")
    return renamed, [
        of_target.sub(lambda found: clashing[found[1]], line).replace(_PLACE, renamed.expression)
        for line in apart
    ]


def _meanings(lines: Iterable[str]) -> dict[str, str]:
    """Return the names that import statements bind, each with what it is then."""
    found: dict[str, str] = {}
    for node in ast.parse("\n".join(lines)).body:
        match node:
            case ast.Import():
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    found[name] = alias.name if alias.asname else name
            case ast.ImportFrom():
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


_USUAL = _meanings(USUAL.splitlines())


def _named_by(opening: Opening) -> Mapping[str, str]:
    """Return the names that an opening binds, each with what it is; "" for its own functions."""
    of_all = _meanings((*opening.imports, *opening.local))
    # What the kit itself has put there for the script means the same in both.
    imported = {name: of for name, of in of_all.items() if not of.startswith(_OF_THE_KIT)}
    of_its_own = (node for top in ast.parse("\n".join(opening.before)).body for node in _outer(top))
    return imported | dict.fromkeys(_bound(of_its_own), "")


def _outer(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement of a module; of a function or a class, itself alone."""
    is_scope = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    yield from (statement,) if is_scope else ast.walk(statement)


def _nodes(lines: Iterable[str]) -> Iterator[ast.AST]:
    return ast.walk(ast.parse("\n".join(lines)))


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that these parts of some code bind."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                found.add(name)
            case ast.Name(name, ast.Store()) | ast.arg(name) | ast.ExceptHandler(name=str(name)):
                found.add(name)
    return found


def _used(lines: Iterable[str]) -> set[str]:
    return {node.id for node in _nodes(lines) if isinstance(node, ast.Name)}


def _aliased(line: str, names: Mapping[str, str]) -> str:
    """Return an import statement that binds other names."""
    (node,) = ast.parse(line).body
    assert isinstance(node, ast.Import | ast.ImportFrom)
    for alias in node.names:
        if (bound := alias.asname or alias.name) in names:
            alias.asname = names[bound]
    return ast.unparse(node)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return ast.unparse(_Renaming(names).visit(ast.parse(text)))


class _Renaming(ast.NodeTransformer):
    """A transformer that replaces names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        # Keywords of calls stay: the functions are other people's.
        field = (
            "arg" if isinstance(node, ast.arg) else "id" if isinstance(node, ast.Name) else "name"
        )
        if getattr(node, field, None) in self._names:
            setattr(node, field, self._names[getattr(node, field)])
        return super().generic_visit(node)
