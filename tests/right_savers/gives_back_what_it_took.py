"""A saver whose reads have a pool of a few connections, of which none is lost to a read that does
not end.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

_MOST = 3
_TRIES = 3


@right(
    "reads are tried three times where the file is locked, may be cancelled anywhere, and give "
    "back what they have taken in any case",
    about={"atomicity", "lifecycle"},
)
class GivesBackWhatItTook(SqliteReference):
    taken = 0

    @contextmanager
    def _one(self) -> Iterator[None]:
        if self.taken == _MOST:
            raise sqlite3.OperationalError("no connection is free")
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1

    @asynccontextmanager
    async def _one_in_steps(self) -> AsyncIterator[None]:
        with self._one():
            await asyncio.sleep(0)
            yield
            await asyncio.sleep(0)

    def get_tuple(self, config: Any) -> Any:
        with self._one():
            for _ in range(_TRIES - 1):
                try:
                    return super().get_tuple(config)
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error):
                        raise
            return super().get_tuple(config)

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        with self._one():
            yield from super().list(config, **options)

    async def aget_tuple(self, config: Any) -> Any:
        async with self._one_in_steps():
            return super().get_tuple(config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        async with self._one_in_steps():
            found = [*super().list(config, **options)]
        for one in found:
            await asyncio.sleep(0)
            yield one
