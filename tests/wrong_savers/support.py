"""What the tests of the fault, crash, concurrency and graph families share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.reference.database import Database
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG


def of(family: str) -> pytest.MarkDecorator:
    """Parametrize by the wrong savers of a family."""
    found = [wrong for wrong in WRONG if wrong.breaks.startswith(f"{family}/")]
    return pytest.mark.parametrize("wrong", found, ids=lambda wrong: wrong.name)


def reading(folder: Path) -> Any:
    """Return a right saver on the store."""
    return SqliteReference.at(folder)


def opening(saver: Any) -> Callable[[Path], Any]:
    """Return what opens the saver in a folder, making the folder."""

    def open_at(path: Path) -> Any:
        path.mkdir(parents=True, exist_ok=True)
        instance = saver.at(path)
        instance.setup()
        return instance

    return open_at


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Leave out the syncs, where no test looks at them."""
    with mock.patch.object(Database, "synchronous", "OFF"):
        yield
