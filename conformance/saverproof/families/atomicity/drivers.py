"""Which database drivers are failed: those known and loaded, and those that a target declares."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from saverproof.targets.opening import EventLoop, fresh_workspace, opened
from saverproof.targets.target import Target
from saverproof_faults import KNOWN_DRIVERS, Driver, why_nothing_passed

HOOKS = (
    "target(drivers=[...]) takes the name of a known driver, a saverproof_faults.ClassDriver "
    "(methods by the event that they are), or any object with name, modules and install(), and "
    "lose() where it can cut the connections that are open"
)


@runtime_checkable
class CutsConnections(Protocol):
    """A driver that can lose its connections: ``lose`` cuts those open now, not later ones."""

    def lose(self) -> None: ...


def declared(target: Target) -> tuple[list[Driver], list[str]]:
    """The drivers that a target declares, and a line for each declaration that is none."""
    drivers: list[Driver] = []
    problems: list[str] = []
    for item in target.drivers:
        known = KNOWN_DRIVERS.get(item) if isinstance(item, str) else None
        if known is not None:
            drivers.append(known)
        elif isinstance(item, Driver):
            drivers.append(item)
        else:
            names = ", ".join(KNOWN_DRIVERS)
            problems.append(
                f"target {target.name!r}, drivers: found {item!r}, expected one of {names}, or a "
                "driver with name, modules and install()"
            )
    return drivers, problems


def load(target: Target, folder: Path, loop: EventLoop) -> None:
    """Open and close the saver once, so that whatever it imports is there to be hooked into.

    Raises:
        OpeningError: the saver could not be opened or closed.
    """
    with fresh_workspace(folder, target) as workspace, opened(target, workspace, loop):
        return


def nothing_passed(problems: list[str]) -> str:
    """Why no contract applies to a saver of which no database call was seen."""
    return "; ".join([why_nothing_passed(), HOOKS, *problems])
