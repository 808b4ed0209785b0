"""Each flaw of a first saver shows, alone and beside the others, to a caller without the kit.

By night, flaws that only a large store shows.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.crowds.first_savers import FIRST, FirstSaver
from tests.nights import by_night
from tests.wrong_savers.scenes.everything import SCENES
from tests.wrong_savers.scenes.probe import Probe

SLOW = {
    ("sqlalchemy-tables", "root-is-no-namespace"),
    ("sqlalchemy-tables", "writes-by-channel"),
    ("file-per-thread", "no-list-of-all"),
    ("json-files", "id-ignored"),
}
"""Flaws that only a large store shows, of savers that take long to write one: left to the night."""
FLAWS = [
    by_night(saver, flaw.name, id=f"{saver.name}-{flaw.name}")
    if (saver.name, flaw.name) in SLOW
    else pytest.param(saver, flaw.name, id=f"{saver.name}-{flaw.name}")
    for saver in FIRST
    for flaw in saver.flaws
]


def answer(saver: FirstSaver, contract: str, mended: Collection[str], folder: Path) -> Any:
    """What the saver answers in the scene of a contract, without some of its flaws."""
    with ExitStack() as opened:

        def open_at(path: Path) -> Any:
            path.mkdir(parents=True, exist_ok=True)
            return opened.enter_context(saver.open(saver.mended(mended), path))

        try:
            return SCENES[contract](Probe(open_at, folder, "sync"))
        except Exception as error:  # noqa: BLE001 - a scene may stumble over what it was answered
            return f"the scene raised {type(error).__name__}"


@pytest.mark.parametrize(("saver", "name"), FLAWS)
def test_a_flaw_shows_alone_and_beside_the_others(
    saver: FirstSaver, name: str, tmp_path: Path
) -> None:
    [flaw] = (flaw for flaw in saver.flaws if flaw.name == name)
    others = [other.name for other in saver.flaws if other != flaw]
    with saver.served():
        found = [
            answer(saver, flaw.contract, mended, tmp_path / str(number))
            for number, mended in enumerate(([*others, name], others, [], [name]))
        ]
    right, alone, among_all, without = found
    assert alone != right
    assert among_all != without


def test_a_class_that_mends_belongs_to_one_flaw() -> None:
    for saver in FIRST:
        names = [flaw.name for flaw in saver.mends]
        assert len(names) == len(set(names)) == len(set(saver.mends.values()))
