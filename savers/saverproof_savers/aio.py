"""Database work for the async API: done in a thread, and settled when the await ends."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


async def run_in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Run ``work`` in the pool, and come back only when it is settled.

    A cancelled caller gets its CancelledError when the work was dropped before it began, or else
    once it has ended: whatever is seen after the await stays as it is.
    """
    context = contextvars.copy_context()
    job = pool.submit(context.run, work)
    waiter = asyncio.wrap_future(job)
    try:
        return await asyncio.shield(waiter)
    except asyncio.CancelledError:
        if not job.cancel():
            await _settled(waiter)
        raise


async def _settled(waiter: "asyncio.Future[T]") -> None:
    while not waiter.done():
        try:
            await asyncio.wait([waiter])
        except asyncio.CancelledError:
            # One is already on its way to the caller; the work still has to end.
            continue
    if not waiter.cancelled():
        # Looked at, so that the loop does not report it as never retrieved.
        waiter.exception()
