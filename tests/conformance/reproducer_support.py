"""Opening wrong savers, and the right ones in their place, from scripts."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.reference.state_file import StateFileReference
from tests.wrong_savers import WRONG, WrongSaver, opener

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.savers.targets.target import Target
from saverproof.savers.workspace import Workspace

RIGHT = "right "
"""Before a wrong saver's name: the reference saver that it was made from."""
SHUT = "shut "
"""Before a wrong saver's name: one that cannot be opened."""


def open_saver(name: str, path: str) -> AbstractContextManager[Any]:
    """A saver below a folder, by name."""
    if name.startswith(SHUT):
        raise OSError("the store is shut")
    wrong = wrong_saver(name.removeprefix(RIGHT))
    make = wrong.make if name == wrong.name else opener(_right(wrong), setup=wrong.setup)
    return make(Workspace(Path(path), "script"))


def wrong_saver(name: str) -> WrongSaver:
    """The wrong saver of that name."""
    return next(wrong for wrong in WRONG if wrong.name == name)


def _right(wrong: WrongSaver) -> Any:
    for base in (SqliteReference, StateFileReference):
        if issubclass(wrong.saver, base):
            return base
    # The right one in its place survives a kill.
    return StateFileReference if wrong.breaks.startswith("durability/") else ReferenceSaver


def target_of(name: str) -> Target:
    """A wrong saver as a target whose scripts have nothing of the kit."""
    wrong = wrong_saver(name)
    opening = (
        f'from tests.conformance.reproducer_support import open_saver\nopen_saver("{name}", path)'
    )
    return Target(name=name, open=wrong.make, opening=opening, drop=wrong.drop)


def of_the_right_saver(script: str) -> str:
    """The same script on the reference saver."""
    return _of(RIGHT, script)


def of_a_shut_saver(script: str) -> str:
    """The same script on a saver that cannot be opened."""
    return _of(SHUT, script)


def _of(which: str, script: str) -> str:
    return re.sub(r"open_saver\(\s*[\"']", rf"\g<0>{which}", script)
