"""An executor for an event loop that starts a thread only if all others are at work.

asyncio's own executor also starts one while a thread has given its answer and is not yet idle. Then
the number of threads, and what they hold, differs from run to run.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from saverproof.savers.targets.event_loop import Loop

_IDLE_WITHIN_S = 0.2
"""Seconds for a thread to be idle after its answer; on a busy machine it may take that long."""


class LeanExecutor(ThreadPoolExecutor):
    """An executor with at most as many threads as asyncio's own, and mostly fewer."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="asyncio")
        self._unanswered = 0
        self._counting = threading.Lock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        deadline = time.monotonic() + _IDLE_WITHIN_S
        while self._soon_idle() and time.monotonic() < deadline:
            time.sleep(0)
        with self._counting:
            self._unanswered += 1
        future = super().submit(fn, *args, **kwargs)
        future.add_done_callback(self._answered)
        return future

    def _soon_idle(self) -> bool:
        """Return whether a thread has given its answer and is about to be idle.

        Only the executor itself knows how many of its threads are idle.
        """
        return len(self._threads) > self._idle_semaphore._value + self._unanswered

    def _answered(self, _: Future[Any]) -> None:
        # Called in the thread that has given the answer, or that has cancelled the call.
        with self._counting:
            self._unanswered -= 1


@contextmanager
def lean_executor(loop: Loop, api: str) -> Iterator[None]:
    """Give the loop a lean executor before the block; the sync API needs none."""
    if api == "async":
        loop.run(_serve())
    yield


async def _serve() -> None:
    asyncio.get_running_loop().set_default_executor(LeanExecutor())
