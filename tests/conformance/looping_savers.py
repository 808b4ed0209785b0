"""Savers that follow parents round and round in other threads. Scripts import them from here, and
the right one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from saverproof.mistakes.delta_history import HistoryGoesRound
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore


class GoesRoundInItsThread(HistoryGoesRound):
    """Wrong: the walk goes round in a thread that the saver starts for it."""

    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        answer: list[Any] = []
        ask = super().get_delta_channel_history
        thread = threading.Thread(
            target=lambda: answer.append(ask(config=config, channels=channels))
        )
        thread.start()
        thread.join()
        return answer[0]


class GoesRoundInAPool(HistoryGoesRound):
    """Wrong: the walk goes round in a thread of a pool that has stored the checkpoints before."""

    def __init__(self, store: ReferenceStore | None = None, **named: Any) -> None:
        super().__init__(store, **named)
        self.pool = ThreadPoolExecutor(1)

    def put(self, *arguments: Any) -> Any:
        return self.pool.submit(super().put, *arguments).result()

    def get_delta_channel_history(self, **named: Any) -> Any:
        return self.pool.submit(super().get_delta_channel_history, **named).result()

    def close(self) -> None:
        self.pool.shutdown()


class AwaitsAThread(HistoryGoesRound):
    """Wrong: the async method leaves the walk to a thread."""

    async def aget_delta_channel_history(self, **named: Any) -> Any:
        return await asyncio.to_thread(self.get_delta_channel_history, **named)


class WaitsInAThread(ReferenceSaver):
    """Wrong: the async method leaves the walk to a thread of a pool, and waits there for ever."""

    async def aget_delta_channel_history(self, **named: Any) -> Any:
        return await asyncio.to_thread(threading.Event().wait)
