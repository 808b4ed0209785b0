"""A saver on SQLite whose readers have a pool of connections; there is one for writes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.reference.paged import PagedReference, WithRuns


class ReaderPool:
    """Connections that are opened when none is free, ``max_size`` of them at most."""

    max_size = 4

    def __init__(self, open: Callable[[], sqlite3.Connection]) -> None:
        self.open = open
        self.free: list[sqlite3.Connection] = []
        self.places = threading.BoundedSemaphore(self.max_size)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        with self.places:
            taken = self.free.pop() if self.free else self.open()
            try:
                yield taken
            finally:
                self.free.append(taken)

    def close(self) -> None:
        while self.free:
            self.free.pop().close()


class PooledDatabase(WithRuns):
    """Each reader reads on a connection of its own."""

    def __init__(self, folder: Path) -> None:
        self.local = threading.local()
        super().__init__(folder)
        self.readers = ReaderPool(self.open)

    @property
    def connection(self) -> sqlite3.Connection:
        """That of the reader, or the one for writes."""
        return getattr(self.local, "reading", None) or self.writer

    @connection.setter
    def connection(self, writer: sqlite3.Connection) -> None:
        self.writer = writer

    @contextmanager
    def reading(self) -> Iterator[None]:
        if getattr(self.local, "reading", None) is not None:
            yield
            return
        with self.readers.connection() as self.local.reading:
            try:
                self.connection.execute("BEGIN")
                yield
            finally:
                self.roll_back()
                self.local.reading = None

    def close(self) -> None:
        super().close()
        self.readers.close()


class PooledReference(PagedReference):
    """Right: readers do not wait for each other, nor for a writer."""

    database_class = PooledDatabase

    async def aget_tuple(self, config: Any) -> Any:
        return await asyncio.to_thread(self.get_tuple, config)
