"""An async API as most savers on a sync driver have it: the sync methods, run in threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver


def _in_a_thread(name: str) -> Callable[..., Any]:
    async def twin(self: Any, *args: Any, **options: Any) -> Any:
        return await asyncio.to_thread(getattr(self, name), *args, **options)

    return twin


class InThreads(BaseCheckpointSaver[str]):
    """Stands before the saver whose sync methods it runs."""

    aput = _in_a_thread("put")
    aput_writes = _in_a_thread("put_writes")
    aget_tuple = _in_a_thread("get_tuple")
    adelete_thread = _in_a_thread("delete_thread")
    adelete_for_runs = _in_a_thread("delete_for_runs")
    acopy_thread = _in_a_thread("copy_thread")
    aprune = _in_a_thread("prune")
    aget_delta_channel_history = _in_a_thread("get_delta_channel_history")

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        for found in await asyncio.to_thread(lambda: list(self.list(config, **options))):
            yield found
