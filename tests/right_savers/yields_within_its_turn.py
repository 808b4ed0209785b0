"""A saver whose transaction is open while other tasks run, which wait for their turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


def _in_turn(name: str) -> Callable[..., Any]:
    @wraps(getattr(SqliteReference, name))
    async def twin(self: YieldsWithinItsTurn, *args: Any, **options: Any) -> Any:
        async with self.turn:
            return getattr(self, name)(*args, **options)

    return twin


@right(
    "the event loop runs between two rows of a batch; whatever else is called waits for its end",
    about={"atomicity"},
    apis=("async",),
)
class YieldsWithinItsTurn(SqliteReference):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.turn = asyncio.Lock()

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        async with self.turn:
            with self.database.writing():
                for row in rows:
                    self._insert_writes(place, [row])
                    await asyncio.sleep(0)

    async def alist(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        async with self.turn:
            found = list(self.list(*args, **options))
        for one in found:
            yield one

    aput = _in_turn("put")
    aget_tuple = _in_turn("get_tuple")
    adelete_thread = _in_turn("delete_thread")
    adelete_for_runs = _in_turn("delete_for_runs")
    acopy_thread = _in_turn("copy_thread")
    aprune = _in_turn("prune")
    aget_delta_channel_history = _in_turn("get_delta_channel_history")
