"""A saver whose `close` closes the connection that it shares with its clones."""

from __future__ import annotations

from typing import Self

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


@right(
    "close() closes the connection, whichever copy it is called on: nobody closes a clone",
    about={"resources"},
)
class ClosesWhatClonesShare(SqliteReference):
    def __copy__(self) -> Self:
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        return clone
