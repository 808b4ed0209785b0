"""Savers that stop the event loop while they wait."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import wrong

LOOP = "concurrency/loop-goes-on"


@wrong(LOOP, "async methods call their sync twins on the loop's own thread")
class SyncOnTheLoop(SqliteReference):
    """As the savers of most drivers that have no async API."""


@wrong(LOOP, "put_writes was forgotten when the rest was moved to threads")
class WritesOnTheLoop(InThreads, SqliteReference):
    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        self.put_writes(config, writes, task_id, task_path)


@wrong(LOOP, "a listing asks for what comes after its first page on the loop's own thread")
class LaterPagesOnTheLoop(InThreads, SqliteReference):
    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        limit = options.pop("limit", None)
        page = 2 if limit is None else min(limit, 2)
        async for found in super().alist(config, **options, limit=page):
            yield found
        if page == limit:
            return
        rest = self.list(config, **options, limit=limit)
        for number, found in enumerate(rest):
            if number >= page:
                yield found


@wrong(LOOP, "a lock that a thread keeps during its transaction is taken on the loop as well")
class LockTakenOnTheLoop(InThreads, SqliteReference):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.counting = threading.Lock()
        self.asked = 0

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        with self.counting:
            return super().put(config, checkpoint, metadata, new_versions)

    async def aget_tuple(self, config: Any) -> Any:
        with self.counting:
            self.asked += 1
        return await super().aget_tuple(config)
