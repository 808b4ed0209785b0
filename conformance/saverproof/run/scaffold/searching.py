"""Find the savers that a project defines, without running any of its code."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from saverproof.run.scaffold.requests import ClassName

_BASES = ("Saver", "Checkpointer")
_ELSEWHERE = {"tests", "test", "docs", "examples", "build", "dist", "node_modules", "site-packages"}


def savers_in(folder: Path) -> list[ClassName]:
    """Return the classes below ``folder`` whose base class is named like a saver."""
    found = [
        ClassName(module, name)
        for file, module in _modules(folder)
        for name in _savers_of(file)
        if not name.startswith("_")
    ]
    return sorted(found, key=lambda one: (one.module, one.name))


def _modules(folder: Path) -> Iterator[tuple[Path, str]]:
    root = folder / "src" if (folder / "src").is_dir() else folder
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        hidden = any(part.startswith((".", "test_")) or part in _ELSEWHERE for part in parts)
        # A virtual environment has a pyvenv.cfg, whatever it is called.
        if hidden or any((root / part / "pyvenv.cfg").exists() for part in parts[:1]):
            continue
        if all(part.isidentifier() for part in parts):
            yield file, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _savers_of(file: Path) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_is_saver(base) for base in node.bases):
            yield node.name


def _is_saver(base: ast.expr) -> bool:
    inner = base.value if isinstance(base, ast.Subscript) else base
    name = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
    return name.endswith(_BASES)
