"""Finds the target that a user names after ``--saver``, without importing it."""

import ast
import difflib
import re
from importlib.metadata import EntryPoint
from pathlib import Path

from saverproof.errors import TargetError
from saverproof.extensions import TARGETS, offered
from saverproof.savers.targets.reference import TargetRef

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def installed() -> dict[str, EntryPoint]:
    """Return the targets of installed distributions by name, the bundled ones included."""
    return offered(TARGETS)


def find(saver: str, folder: Path) -> TargetRef:
    """Return the reference for ``saver``: a name, ``module:attribute`` or
    ``path/to/file.py:attribute``.

    A file with one target needs no attribute. A relative path starts at ``folder``. Nothing is
    imported: that is left to a child process.

    Raises:
        TargetError: there is no such name or file, or the text has none of these forms.
    """
    place, colon, attribute = saver.rpartition(":")
    if not colon:
        return _by_name(saver, folder)
    if not _DOTTED.fullmatch(attribute):
        raise TargetError(
            f"--saver {saver}: {attribute!r} is no attribute name, "
            "expected module:attribute or path/to/file.py:attribute"
        )
    if place.endswith(".py") or "/" in place:
        return _by_file(saver, place, attribute, folder)
    if not _DOTTED.fullmatch(place):
        raise TargetError(
            f"--saver {saver}: {place!r} is no module name, "
            "expected module:attribute or path/to/file.py:attribute"
        )
    return TargetRef(saver, module=place, file=None, attribute=attribute)


def _by_name(saver: str, folder: Path) -> TargetRef:
    points = installed()
    if saver in points:
        point = points[saver]
        return TargetRef(saver, module=point.module, file=None, attribute=point.attr)
    if saver.endswith(".py") or "/" in saver:
        return _only_target(saver, folder)
    near = difflib.get_close_matches(saver, points, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    found = f"{saver}: no target has that name; {hint}" if saver.strip() else "has no name: "
    raise TargetError(
        f"--saver {found}expected one of the {len(points)} that "
        "`saverproof list targets` shows, module:attribute or path/to/file.py:attribute"
    )


def _by_file(saver: str, place: str, attribute: str, folder: Path) -> TargetRef:
    path = (folder / place).absolute()
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "does not exist"
        raise TargetError(f"--saver {saver}: {path} {found}, expected a Python file")
    return TargetRef(saver, module=None, file=str(path), attribute=attribute)


def _only_target(saver: str, folder: Path) -> TargetRef:
    """Return the only target of a file that was named without an attribute."""
    path = (folder / saver).absolute()
    if not path.is_file():
        raise TargetError(f"--saver {saver}: no such file, expected path/to/file.py:attribute")
    try:
        names = _decorated(path)
    except SyntaxError as error:
        said = f"{error.msg} (line {error.lineno})"
        raise TargetError(f"--saver {saver}: {path} is no Python: {said}") from None
    if len(names) != 1:
        found = (
            f"its targets are {', '.join(names)}" if names else "no @target stands at its top level"
        )
        raise TargetError(f"--saver {saver}: {found}; expected path/to/file.py:attribute")
    return TargetRef(saver, module=None, file=str(path), attribute=names[0])


def _decorated(path: Path) -> list[str]:
    """Return the names of a file's functions that have the decorator ``@target``."""
    return [
        node.name
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any(_is_target(decorator) for decorator in node.decorator_list)
    ]


def _is_target(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", None)
    return name == "target"
