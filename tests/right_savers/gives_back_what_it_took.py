"""A saver whose reads have a pool of a few connections, of which none is lost to a read that does
not end.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

_MOST = 3
_TRIES = 3
_PATIENCE_S = 10.0
"""Seconds that a read waits for a connection, as in the pools of drivers: only one that is lost
takes as long.
"""


@right(
    "reads are tried three times where the file is locked, wait for a connection, may be cancelled "
    "anywhere, and give back what they have taken in any case",
    about={"atomicity", "lifecycle"},
)
class GivesBackWhatItTook(SqliteReference):
    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.free = threading.BoundedSemaphore(_MOST)

    @contextmanager
    def _one(self) -> Iterator[None]:
        if not self.free.acquire(timeout=_PATIENCE_S):
            raise sqlite3.OperationalError("no connection is free")
        try:
            yield
        finally:
            self.free.release()

    @asynccontextmanager
    async def _one_in_steps(self) -> AsyncIterator[None]:
        await self._take_in_steps()
        try:
            await asyncio.sleep(0)
            yield
            await asyncio.sleep(0)
        finally:
            self.free.release()

    async def _take_in_steps(self) -> None:
        """Take a connection: whoever is cancelled while it waits has none."""
        end = time.monotonic() + _PATIENCE_S
        while not self.free.acquire(blocking=False):
            if time.monotonic() > end:
                raise sqlite3.OperationalError("no connection is free")
            await asyncio.sleep(0.001)

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
