"""Finds the database drivers whose calls are made to fail: known ones that are loaded, and those
that a target declares.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from saverproof.extensions import DRIVERS, added
from saverproof.savers.targets.target import Target
from saverproof_faults import KNOWN_DRIVERS, Driver, why_nothing_passed

HOOKS = (
    "target(drivers=[...]) takes the name of a known driver, or an object that hooks into another: "
    "https://saverproof.github.io/saverproof/target/#drivers"
)


@runtime_checkable
class CutsConnections(Protocol):
    """A driver that can lose its connections: ``lose`` cuts those that are open at that time."""

    def lose(self) -> None: ...


def added_drivers() -> dict[str, Driver]:
    """Return the drivers that other distributions add, by name.

    Raises:
        ExtensionError: an addition cannot be used.
    """
    # A protocol that is checked at run time is no type for mypy to make instances of.
    kind: type[Driver] = Driver  # type: ignore[type-abstract]
    return {driver.name: driver for _, driver in added(DRIVERS, kind)}


def with_loaded(drivers: Sequence[Driver]) -> list[Driver]:
    """Return ``drivers``, and those drivers added by other distributions of which a module is
    loaded.
    """
    names = {driver.name for driver in drivers}
    loaded = [
        driver
        for name, driver in added_drivers().items()
        if name not in names and any(module in sys.modules for module in driver.modules)
    ]
    return [*drivers, *loaded]


def declared(target: Target) -> tuple[list[Driver], list[str]]:
    """Return the drivers that a target declares, and a line for each unusable declaration."""
    by_name = {**KNOWN_DRIVERS, **added_drivers()}
    drivers: list[Driver] = []
    problems: list[str] = []
    for item in target.drivers:
        known = by_name.get(item) if isinstance(item, str) else None
        if known is not None:
            drivers.append(known)
        elif isinstance(item, Driver):
            drivers.append(item)
        else:
            names = ", ".join(by_name)
            problems.append(
                f"target {target.name!r}, drivers: found {item!r}, expected one of {names}, or a "
                "driver with name, modules and install()"
            )
    return drivers, problems


def nothing_passed(problems: list[str], files: str) -> str:
    """Say why no contract applies to a saver that made no known database call.

    ``files`` says why its files were not made to fail either.
    """
    return "; ".join([why_nothing_passed(), HOOKS, files, *problems])
