"""The common base class of all watches that count the places of a process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Self

from saverproof.families.durability.kills.kill_places import OPENING, KillPlace

Die = Callable[[], object]


class PlaceWatch:
    """Watches the process for places of one kind; this base class sees none.

    Enter it before the saver is opened. Without a ``place`` to die at, all places that were passed
    are in ``found`` at the end.
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
        """Begin an operation: its places are counted from 1 again."""
        self.operation, self.index = operation, 0

    def end(self) -> None:
        """Stop counting, since the saver is closed."""
