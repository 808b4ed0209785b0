"""Additions by other distributions, found by entry points.

``saverproof.targets``    a target under a short name (see ``saverproof.target``).
``saverproof.contracts``  a ``FamilyTable``: a family of contracts of its own, light to import.
``saverproof.families``   the ``Family`` that judges such a table; ``CheckFamily`` is a ready one,
                          for contracts each of which one function checks.
``saverproof.drivers``    a database driver whose statements are made to fail if it is loaded:
                          what ``target(drivers=...)`` takes, such as a ``ClassDriver``.

In the ``pyproject.toml`` of such a distribution::

    [project.entry-points."saverproof.contracts"]
    retention = "retention.contracts:TABLE"

    [project.entry-points."saverproof.families"]
    retention = "retention.checks:FAMILY"
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from saverproof.errors import ExtensionError, describe

TARGETS = "saverproof.targets"
CONTRACTS = "saverproof.contracts"
FAMILIES = "saverproof.families"
DRIVERS = "saverproof.drivers"

T = TypeVar("T")


def offered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, without importing anything."""
    return {point.name: point for point in _points(group, tuple(sys.path))}


@cache
def _points(group: str, path: tuple[str, ...]) -> list[EntryPoint]:
    """The entry points of a group; to find them, the metadata of all that is installed is read."""
    return sorted(entry_points(group=group))


def added(group: str, kind: type[T]) -> list[tuple[str, T]]:
    """Return what a group adds, each with a text that says where it comes from.

    Raises:
        ExtensionError: an addition does not import, or is not of this kind.
    """
    return [_loaded(point, kind) for point in offered(group).values()]


def _loaded(point: EntryPoint, kind: type[T]) -> tuple[str, T]:
    distribution = point.dist.name if point.dist else "an unknown distribution"
    where = f"{distribution}: entry point {point.group}, {point.name} = {point.value}"
    try:
        found = point.load()
    except Exception as error:
        raise ExtensionError(f"{where}: does not load: {describe(error)}") from error
    if not isinstance(found, kind):
        raise ExtensionError(f"{where}: found {type(found).__name__}, expected a {kind.__name__}")
    return where, found
