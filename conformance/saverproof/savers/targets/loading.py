"""Imports a target. It runs in a child process, because importing runs unknown code."""

import difflib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from saverproof.errors import TargetError, describe, kind_of
from saverproof.savers.targets.frames import place
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target

_loaded: dict[TargetRef, Target] = {}


def load(ref: TargetRef) -> Target:
    """Return the target that ``ref`` names. It is imported once in a process.

    Raises:
        TargetError: its module does not import, or the attribute is missing or no target.
    """
    if ref not in _loaded:
        _loaded[ref] = _target(ref).at(ref)
    return _loaded[ref]


def _target(ref: TargetRef) -> Target:
    module = _import(ref)
    found: Any = module
    for name in ref.attribute.split("."):
        if not hasattr(found, name):
            raise TargetError(f"--saver {ref.saver}: {_missing(ref, module, name)}")
        found = getattr(found, name)
    if isinstance(found, Target):
        return found
    if not callable(found) or isinstance(found, type):
        raise TargetError(
            f"--saver {ref.saver}: {ref.attribute} is {kind_of(found)}, expected a target "
            "(a function decorated with saverproof.target) or a context-manager function"
        )
    try:
        return Target(name=ref.attribute.rpartition(".")[2], open=found)
    except TargetError as error:
        # An undecorated function has no @target above which to put anything.
        message = error.message.replace(" below @target", " above it")
        raise TargetError(f"--saver {ref.saver}: {message}") from None


def _missing(ref: TargetRef, module: ModuleType, name: str) -> str:
    targets = [key for key, value in vars(module).items() if isinstance(value, Target)]
    near = difflib.get_close_matches(name, [*targets, *vars(module)], n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    offered = f"; its targets: {', '.join(targets)}" if targets else ""
    return f"{ref.module or ref.file} has no attribute {name!r}{hint}{offered}"


def _import(ref: TargetRef) -> ModuleType:
    try:
        return importlib.import_module(ref.module) if ref.module else _import_file(str(ref.file))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise TargetError(
            f"--saver {ref.saver}: {ref.module or ref.file} does not import: "
            f"{describe(error)}{place(error)}"
        ) from error


def _import_file(file: str) -> ModuleType:
    path = Path(file)
    root = path.parent
    names = [path.stem]
    while (root / "__init__.py").is_file():
        names.insert(0, root.name)
        root = root.parent
    # As for a script, what lies beside the file can be imported; the invocation folder stays first.
    if str(root) not in sys.path:
        sys.path.insert(1, str(root))
    if len(names) > 1:
        return importlib.import_module(".".join(names))
    return _import_single(path)


def _import_single(path: Path) -> ModuleType:
    # A file may be called like a module of somebody else's (test.py, types.py).
    name = path.stem
    origin = None if name in sys.modules else _origin(name)
    if name in sys.modules or (origin is not None and Path(origin) != path):
        name = f"saverproof_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported as a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _origin(name: str) -> str | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec else None
