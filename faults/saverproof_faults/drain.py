"""Wait until work that was handed to threads has ended, even if nobody awaits it any more."""

import asyncio
import concurrent.futures
import sys
import threading
import time
import weakref
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Self

from saverproof_faults.errors import NotSettled
from saverproof_faults.settled import settled

PATIENCE = 10.0
"""Seconds to wait for work to end before it is reported as unfinished."""


class Handoffs:
    """A context manager that notes the work handed to thread pools and aiosqlite connections.

    Enter it before the program hands over anything. Tasks and threads that the program runs by
    itself are not noted; they count as work while they move (see ``settled``).
    """

    def __init__(self) -> None:
        self._pending: set[concurrent.futures.Future[Any]] = set()
        self._lock = threading.Lock()
        self._connections: weakref.WeakSet[Any] = weakref.WeakSet()
        self._sees_aiosqlite = False
        self._undo: list[Callable[[], None]] = []
        self._not_of_program: weakref.WeakSet[threading.Thread] = weakref.WeakSet()

    def __enter__(self) -> Self:
        self._not_of_program.update(threading.enumerate())
        self._exchange(ThreadPoolExecutor, "submit", self._noting_submit)
        self.look_again()
        return self

    def look_again(self) -> None:
        """Also follow a driver that was imported after this was entered."""
        core = sys.modules.get("aiosqlite.core")
        if core is not None and not self._sees_aiosqlite:
            self._sees_aiosqlite = True
            self._exchange(core.Connection, "_execute", self._noting_execute)

    def __exit__(self, *exc_info: object) -> None:
        self._sees_aiosqlite = False
        while self._undo:
            self._undo.pop()()

    async def drain(
        self, patience: float = PATIENCE, *, habits: Collection["asyncio.Task[Any]"] | None = None
    ) -> None:
        """Wait until all noted work has ended and no other work is seen.

        ``habits`` are the tasks that were there before the work began: for the others an answer is
        waited for that comes late.

        Raises:
            NotSettled: that took more than ``patience`` seconds.
        """
        deadline = time.monotonic() + patience
        try:
            async with asyncio.timeout(patience):
                while pending := self._unfinished():
                    await asyncio.wait({asyncio.wrap_future(future) for future in pending})
                for connection in list(self._connections):
                    await _behind(connection)
                # Let the callbacks of that work run.
                await asyncio.sleep(0)
        except TimeoutError as problem:
            raise NotSettled(f"work handed to threads is not done after {patience} s") from problem
        begun = () if habits is None else asyncio.all_tasks() - {*habits, asyncio.current_task()}
        if not await settled(self._threads_of_program(), deadline, begun):
            raise NotSettled(f"tasks or threads are still at work after {patience} s")

    def _threads_of_program(self) -> list[threading.Thread]:
        """Return the threads that were started since this was entered.

        Workers of thread pools are left out, because their work is noted.
        """
        here, pooled = threading.current_thread(), concurrent.futures.thread._threads_queues
        return [
            thread
            for thread in threading.enumerate()
            if thread not in self._not_of_program
            and thread is not here
            and thread not in pooled
            and not thread.name.startswith("saverproof-")
        ]

    def _unfinished(self) -> list["concurrent.futures.Future[Any]"]:
        with self._lock:
            return [future for future in self._pending if not future.done()]

    def _exchange(
        self, owner: type, name: str, noting: Callable[[Callable[..., Any]], Callable[..., Any]]
    ) -> None:
        original = owner.__dict__[name]
        setattr(owner, name, noting(original))
        self._undo.append(lambda: setattr(owner, name, original))

    def _noting_submit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def submit(*arguments: Any, **options: Any) -> Any:
            future = original(*arguments, **options)
            with self._lock:
                self._pending.add(future)
            # What is done is not kept, with its error and all that the error refers to.
            future.add_done_callback(self._forget)
            return future

        return submit

    def _forget(self, future: "concurrent.futures.Future[Any]") -> None:
        with self._lock:
            self._pending.discard(future)

    def _noting_execute(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        async def execute(connection: Any, *arguments: Any, **options: Any) -> Any:
            self._connections.add(connection)
            return await original(connection, *arguments, **options)

        return execute


async def _behind(connection: Any) -> None:
    """Wait for an aiosqlite connection to reach the end of its queue."""
    try:
        await connection._execute(lambda: None)
    except ValueError:
        # The connection was closed meanwhile, after all that was in its queue.
        return
