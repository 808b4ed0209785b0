"""Inspect a saver's class in a child process: what it is, and how it may be opened."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from saverproof.errors import TargetError, describe
from saverproof.process.requests import Progress
from saverproof.run.scaffold.openings import call_to_fill_in, ways_to_open
from saverproof.run.scaffold.requests import NO_CLASS, ClassName, SaverClass
from saverproof.savers.targets.distribution import distribution_of

OPERATIONS = (("put", "get_tuple"), ("aput", "aget_tuple"))


def inspect_class(wanted: ClassName, progress: Progress) -> SaverClass:
    """Import the class, and read its signatures.

    Raises:
        TargetError: it cannot be imported, or is no saver; the message is one line.
    """
    progress({"stage": f"importing {wanted.module}"})
    kind = _imported(wanted)
    distribution = distribution_of(kind)
    return SaverClass(
        module=wanted.module,
        name=wanted.name,
        distribution=distribution.name if distribution else None,
        ways=tuple(ways_to_open(kind)),
        call=call_to_fill_in(kind),
    )


def _imported(wanted: ClassName) -> type:
    try:
        found: Any = import_module(wanted.module)
    except Exception as error:
        raise TargetError(f"{wanted.module} does not import: {describe(error)}") from error
    for name in wanted.name.split("."):
        if not hasattr(found, name):
            offered = ", ".join(_savers(found)) or "none"
            raise TargetError(f"{wanted.module} has no {name!r}; its savers: {offered}")
        found = getattr(found, name)
    if not inspect.isclass(found) or not _is_saver(found):
        kind = "a class without put and get_tuple" if inspect.isclass(found) else NO_CLASS
        raise TargetError(f"{wanted.module}:{wanted.name} is {kind}, expected a saver's class")
    return found


def _savers(module: Any) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and _is_saver(value) and _is_of(value, module.__name__)
    ]


def _is_of(kind: type, module: str) -> bool:
    """Return whether a class is defined in a module or below it. Packages re-export such
    classes.
    """
    return kind.__module__ == module or kind.__module__.startswith(f"{module}.")


def _is_saver(kind: type) -> bool:
    return any(all(hasattr(kind, name) for name in names) for names in OPERATIONS)
