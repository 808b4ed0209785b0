"""What several tests of the fault layer need."""

import gc
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest


class _Cycle:
    def __init__(self) -> None:
        self.itself = self


class Garbage:
    """Left piece by piece; `kept` says for each later piece whether all earlier ones were alive."""

    def __init__(self) -> None:
        self.pieces: list[weakref.finalize[[], _Cycle]] = []
        self.kept: list[bool] = []

    def leave(self) -> None:
        """Leave one more piece, which only the collector can free."""
        self.kept.append(all(each.alive for each in self.pieces))
        self.pieces.append(weakref.finalize(_Cycle(), lambda: None))


@pytest.fixture
def garbage() -> Iterator[Garbage]:
    """Garbage, in a time when every allocation of a container collects what is there."""
    thresholds = gc.get_threshold()
    gc.set_threshold(1, 1000, 1000)
    yield Garbage()
    gc.set_threshold(*thresholds)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with an empty table `numbers`."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE numbers (number)")
    return tmp_path / "a.db"
