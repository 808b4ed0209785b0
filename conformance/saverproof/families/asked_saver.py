"""A saver with sync method names whose calls go through the API that is judged.

Families that measure growing stores use it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

from saverproof.process import heartbeat
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.store import Store

COUNTS_NOTHING = frozenset(
    {
        "saverproof.families",
        "saverproof.process",
        "saverproof.savers",
    }
)
"""Packages that a call passes on its way to the saver. Their lines do not count as the saver's."""


class CancelledCall:
    """A call that is cancelled at one of its waits: ``left`` more are to come before it."""

    def __init__(self, method: Callable[..., Any], arguments: Any, left: int) -> None:
        self.call, self.left = self.called(method, arguments), left

    async def called(self, method: Callable[..., Any], arguments: Any) -> None:
        answer = method(*arguments)
        if hasattr(answer, "__aiter__"):
            async for _ in answer:
                pass
        else:
            await answer

    def __await__(self) -> Generator[Any, Any, None]:
        error: BaseException | None = None
        while True:
            try:
                waited_for = self.call.throw(error) if error else self.call.send(None)
            except StopIteration:
                return
            if self.left == 0:
                # Its task is running: what it is about to wait for is cancelled.
                task: Any = asyncio.current_task()
                task.cancel()
            self.left -= 1
            try:
                error = None
                yield waited_for
            except BaseException as raised:  # noqa: BLE001 - handed to the call
                error = raised


async def cancelled(method: Callable[..., Any], arguments: Any, waits: int) -> bool:
    """Begin a call, and cancel it when it has waited so many times and waits again; return whether
    it did.
    """
    call = CancelledCall(method, arguments, waits)
    with suppress(asyncio.CancelledError, Exception):
        await asyncio.ensure_future(call)
    return call.left < 0


class AskedSaver:
    """The saver of a store. It may be closed and opened again between calls."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def _driver(self) -> ApiDriver:
        return self._store.drivers[0]

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return self._driver.saver.get_next_version(current, channel)

    def put(self, *arguments: Any) -> Any:
        return self._call("put", *arguments)

    def put_writes(self, *arguments: Any) -> Any:
        return self._call("put_writes", *arguments)

    def get_tuple(self, config: Any) -> Any:
        return self._call("get_tuple", config)

    def list(self, config: Any, **options: Any) -> Any:
        heartbeat.beat(0)
        return self._driver.list_tuples(config, options)

    def get_delta_channel_history(self, *, config: Any, channels: Any) -> Any:
        heartbeat.beat(0)
        return self._driver.delta_history(config, channels)

    def delete_thread(self, thread: str) -> Any:
        return self._call("delete_thread", thread)

    def delete_for_runs(self, runs: Any) -> Any:
        return self._call("delete_for_runs", runs)

    def prune(self, threads: Any, *, strategy: str) -> Any:
        heartbeat.beat(0)
        return self._driver.invoke("prune", threads, strategy=strategy)

    def copy_thread(self, source: str, target: str) -> Any:
        return self._call("copy_thread", source, target)

    def first(self, config: Any) -> Any:
        """Take one item of a listing, and leave the listing."""
        heartbeat.beat(0)
        return self._driver.first_listed(config)

    def cancel(self, operation: str, arguments: tuple[Any, ...], waits: int) -> bool:
        """Call an operation of the async API, and cancel it when it has waited so many times and
        waits again; return whether it did.
        """
        heartbeat.beat(0)
        method = getattr(self._driver.saver, f"a{operation}")
        struck: bool = self._store.loop.run(cancelled(method, arguments, waits))
        return struck

    def reopen(self) -> None:
        """Close the saver, and open it again."""
        self._store.reopen()

    def _call(self, operation: str, *arguments: Any) -> Any:
        heartbeat.beat(0)
        return self._driver.invoke(operation, *arguments)
