"""Each wrong saver does what its note says: something else than the reference saver does."""

from __future__ import annotations

from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.reference.saver import ReferenceSaver
from tests.reference.store import Store
from tests.wrong_savers import WRONG, WrongSaver
from tests.wrong_savers.scenes.everything import SCENES
from tests.wrong_savers.scenes.probe import Probe

FOLDERS = count()


def answers(saver: Any, contract: str, api: str, *, setup: bool = True) -> Any:
    """Return what the contract's scene gives for a saver class."""
    folder = Path(f"scene-{next(FOLDERS)}")

    def open_at(path: Path) -> Any:
        instance = saver.at(path)
        if setup:
            instance.setup()
        return instance

    try:
        return SCENES[contract](Probe(open_at, folder, api))
    finally:
        Store.forget(folder)


@cache
def expected(contract: str, api: str) -> Any:
    """Return what the contract's scene gives for the reference saver."""
    return answers(ReferenceSaver, contract, api)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_saver_answers_otherwise_than_the_reference(wrong: WrongSaver) -> None:
    for api in wrong.apis:
        found = answers(wrong.saver, wrong.breaks, api, setup=wrong.setup)
        assert found != expected(wrong.breaks, api)
