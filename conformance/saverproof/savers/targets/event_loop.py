"""Event loops for coroutines of sync code: in a thread of their own, or on the caller's."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, Self, TypeVar

Answer = TypeVar("Answer")
_ANSWERS_WITHIN_S = 1.0
"""Seconds in which a loop has to answer before it counts as blocked."""
_CANCELLED_WITHIN_S = 3
"""Seconds in which cancelled tasks may end before the loop is stopped nevertheless."""


@cache
def _idle_loop() -> asyncio.AbstractEventLoop:
    # Never closed before the end: whoever asked for it may keep it.
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop


@contextmanager
def having_a_loop() -> Iterator[None]:
    """Give this thread an event loop that does not run, as a main thread may have.

    Here ``asyncio.get_event_loop`` returns that loop; in other threads it raises. So code that
    cleans up by awaiting something does not raise here, and is left halfway because nobody awaits
    it.
    """
    asyncio.set_event_loop(_idle_loop())
    try:
        yield
    finally:
        asyncio.set_event_loop(None)


class Loop(Protocol):
    """An event loop that runs coroutines for sync code. It is closed when its block ends."""

    def run(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        """Run a coroutine on the loop, wait for it, and return its result; its exceptions are
        raised.
        """
        ...

    def is_blocked(self) -> bool:
        """Return whether a call that never returns holds the loop, so that it cannot be closed."""
        ...

    def close(self) -> None:
        """Cancel what still runs, and stop the loop. Closing again does no harm."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...


def loop_for(api: str) -> Loop:
    """Return a loop for a saver that is called through one API only.

    The async API can use the caller's thread. Sync methods may hand coroutines to the loop on which
    the saver was opened, so that loop has to run in another thread.
    """
    return InlineLoop() if api == "async" else EventLoop()


class EventLoop:
    """An asyncio event loop in a daemon thread of its own, for sync calls from other threads.

    The thread starts when the loop is first used. ``made`` makes the loop.
    """

    def __init__(
        self, made: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    ) -> None:
        self._made = made
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._serve, name="saverproof-loop", daemon=True)
        self._starting = threading.Lock()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop."""
        with self._starting:
            if self._loop is None:
                self._loop = self._made()
                self._thread.start()
            return self._loop

    def _serve(self) -> None:
        assert self._loop is not None
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def run(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        settled = _settled(coroutine)
        try:
            future = asyncio.run_coroutine_threadsafe(settled, self.loop)
        except RuntimeError:
            # The loop is closed: a thread that was given up came back.
            settled.close()
            coroutine.close()
            raise
        try:
            value, error = future.result()
        except BaseException:
            future.cancel()
            raise
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def is_blocked(self) -> bool:
        if self._loop is None or self._loop.is_closed():
            return False
        answer = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop)
        try:
            answer.result(timeout=_ANSWERS_WITHIN_S)
        except TimeoutError:
            return True
        return False

    def close(self) -> None:
        """Cancel what still runs, stop the loop, and end its thread. Closing again does no harm."""
        if self._loop is None:
            # Closed before it was used: later calls must find it closed.
            self._loop = asyncio.new_event_loop()
            self._loop.close()
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result(timeout=5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class InlineLoop:
    """An asyncio event loop on the thread that waits for results; between calls it stands still.

    Handing each call to another thread and its result back would take longer than most calls.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        settled = _settled(coroutine)
        try:
            value, error = self._loop.run_until_complete(settled)
        except asyncio.CancelledError:
            # For the caller this is an error like any other, as it is from another thread.
            raise concurrent.futures.CancelledError from None
        except RuntimeError:
            # The loop is closed, or runs already.
            settled.close()
            coroutine.close()
            raise
        if error is not None:
            raise error
        return value  # type: ignore[return-value]

    def is_blocked(self) -> bool:
        return self._loop.is_running()

    def close(self) -> None:
        # A blocked loop runs on an abandoned thread, which ends with the process.
        if not self._loop.is_closed() and not self.is_blocked():
            self._loop.run_until_complete(_cancel_all())
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


async def _settled(
    coroutine: Coroutine[Any, Any, Answer],
) -> tuple[Answer | None, BaseException | None]:
    # A SystemExit or KeyboardInterrupt that a saver raises inside a task would end the loop.
    try:
        return await coroutine, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - carried to the caller, who raises it
        return None, error


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_CANCELLED_WITHIN_S)
    await asyncio.get_running_loop().shutdown_asyncgens()
