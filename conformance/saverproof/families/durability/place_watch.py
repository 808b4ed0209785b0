"""What all that counts the places of a process has in common."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Self

from saverproof.families.durability.kill_places import OPENING, KillPlace

Die = Callable[[], object]


class PlaceWatch:
    """Watches the process for places of one kind, by itself for none. Enter it before the saver
    is opened. Without a ``place`` to die at, those that are passed are in ``found`` at the end.
    """

    def __init__(self, place: KillPlace | None, die: Die = lambda: None) -> None:
        self.place = place
        self.die = die
        self.operation = OPENING
        self.index = 0
        self.found: list[KillPlace] = []
        self.exit = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.exit.close()

    def begin(self, operation: int) -> None:
        """An operation begins: places are counted from 1 again."""
        self.operation, self.index = operation, 0

    def end(self) -> None:
        """The saver is closed: no place is passed any more."""
