"""Run database work of the async API in a thread, and wait until it has ended."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


async def run_in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Run ``work`` in the pool, and return only when it has ended or was never begun.

    A cancelled caller gets its CancelledError in either case: no work goes on in secret after the
    await.
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
            # One CancelledError is already on its way to the caller; the work still has to end.
            continue
    if not waiter.cancelled():
        # Reading the exception keeps the loop from reporting it as never retrieved.
        waiter.exception()
