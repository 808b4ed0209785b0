"""The wrong savers as targets that a process of their own can import by their names."""

from __future__ import annotations

from pathlib import Path

from tests.wrong_savers import WRONG

from saverproof import target
from saverproof.savers.targets.target import Target

_OPENING = (
    "from tests.conformance.durability.crash_savers import opening_of\nopening_of({!r}, path)"
)


class _Here:
    """A workspace, as far as the wrong savers know one."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)


def opening_of(name: str, path: str) -> object:
    """The saver of that name on the store in a folder; scripts call it."""
    return next(known for known in WRONG if known.name == name).make(_Here(path))


def __getattr__(name: str) -> Target:
    """The target of a wrong saver, with underscores in its name."""
    wanted = name.replace("_", "-")
    for known in WRONG:
        if known.name == wanted:
            return target(name=wanted, opening=_OPENING.format(wanted))(known.make)
    raise AttributeError(name)
