"""Finds the target of a class of machines."""

from __future__ import annotations

import dataclasses
import inspect

from saverproof.errors import TargetError
from saverproof.savers.targets.reference import TargetRef
from saverproof.savers.targets.target import Target


def target_of(machine: type) -> Target:
    """Return the target of a class of machines.

    Raises:
        TargetError: the class names no target.
    """
    found = inspect.getattr_static(machine, "target", None)
    if isinstance(found, staticmethod):
        found = found.__func__
    if isinstance(found, Target):
        return found if found.ref is not None else dataclasses.replace(found, ref=_ref_to(found))
    if callable(found):
        target = Target(name=machine.__name__.lower(), open=found)
        return dataclasses.replace(target, ref=_ref_to(target))
    raise TargetError(
        f"{machine.__name__}.target: found {found!r:.60}, expected a target, or the function that "
        "opens the saver"
    )


def _ref_to(target: Target) -> TargetRef | None:
    """Return a reference by which a script finds the target: the file of its function. Or None."""
    function = inspect.unwrap(target.open)
    name = getattr(function, "__qualname__", "")
    try:
        file = inspect.getsourcefile(function)
    except TypeError:
        return None
    if file is None or not name.isidentifier():
        return None
    return TargetRef(saver=target.name, module=None, file=file, attribute=name)
