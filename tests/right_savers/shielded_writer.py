"""A saver whose writes are tasks of their own: they finish after the await was cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

ROUNDS = 20
"""How often the event loop gets around before a task writes."""


def _in_a_task(name: str) -> Callable[..., Any]:
    @wraps(getattr(SqliteReference, name))
    async def twin(self: ShieldedWriter, *args: Any, **options: Any) -> Any:
        async def written() -> Any:
            async with self.turn:
                for _ in range(ROUNDS):
                    await asyncio.sleep(0)
                return getattr(self, name)(*args, **options)

        task = asyncio.get_running_loop().create_task(written())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return await asyncio.shield(task)

    return twin


@right(
    "a cancelled caller leaves its task alone, which writes a little later",
    about={"resources"},
    apis=("async",),
)
class ShieldedWriter(SqliteReference):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.tasks: set[asyncio.Task[Any]] = set()
        self.turn = asyncio.Lock()

    aput = _in_a_task("put")
    aput_writes = _in_a_task("put_writes")
    adelete_thread = _in_a_task("delete_thread")
    adelete_for_runs = _in_a_task("delete_for_runs")
    acopy_thread = _in_a_task("copy_thread")
    aprune = _in_a_task("prune")
