"""Calls a saver through its sync or its async API, the same way round for both."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from saverproof.execution.calls import Config, PutCall, PutWritesCall

T = TypeVar("T")
_MOST_LISTED = 10_000


class EndlessListing(Exception):  # noqa: N818 - of the saver, as far as can be seen
    """A listing went on after more items than any program stores."""


def _take(item: Any, listed: list[Any]) -> None:
    if len(listed) == _MOST_LISTED:
        raise EndlessListing(f"the listing went on after {_MOST_LISTED:,} items")
    listed.append(item)


def takes_task_path(method: Any) -> bool:
    """Whether a put_writes method has a parameter named task_path: LangGraph looks at this too."""
    try:
        return "task_path" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False


def writer_at(turn: int, apis: int) -> int:
    """Which of several APIs makes the write of this number, from 1.

    Each makes two in a row, so that one may read what the other wrote before and after it did.
    """
    return (turn - 1) // 2 % apis


class Loop(Protocol):
    """A running event loop that another thread can hand coroutines to."""

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop, wait for it, give its result."""
        ...


class Driver(Protocol):
    """The operations of a saver, whatever its API."""

    api: str
    saver: Any
    calls: int
    seconds: float
    takes_paths: bool

    def put(self, call: PutCall) -> Any: ...
    def put_writes(self, call: PutWritesCall) -> Any: ...
    def get_tuple(self, config: Config) -> Any: ...
    def list_tuples(self, config: Config | None, arguments: dict[str, Any]) -> list[Any]: ...
    def first_listed(self, config: Config) -> Any: ...
    def delta_history(self, config: Config, channels: Sequence[str]) -> Any: ...
    def invoke(self, operation: str, *arguments: Any, **named: Any) -> Any: ...


class SyncDriver:
    """Drives the sync API on the calling thread."""

    api = "sync"

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self.calls = 0
        self.seconds = 0.0
        self.takes_paths = takes_task_path(getattr(saver, "put_writes", None))

    def _timed(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        self.calls += 1
        started = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            self.seconds += time.perf_counter() - started

    def put(self, call: PutCall) -> Any:
        return self._timed(
            self.saver.put, call.config, call.checkpoint, call.metadata, call.new_versions
        )

    def put_writes(self, call: PutWritesCall) -> Any:
        if self.takes_paths:
            return self._timed(
                self.saver.put_writes, call.config, call.writes, call.task_id, call.task_path
            )
        return self._timed(self.saver.put_writes, call.config, call.writes, call.task_id)

    def get_tuple(self, config: Config) -> Any:
        return self._timed(self.saver.get_tuple, config)

    def list_tuples(self, config: Config | None, arguments: dict[str, Any]) -> list[Any]:
        def collect() -> list[Any]:
            listed: list[Any] = []
            for item in self.saver.list(config, **arguments):
                _take(item, listed)
            return listed

        return self._timed(collect)

    def first_listed(self, config: Config) -> Any:
        """Take one item of a listing and leave it, as a ``for`` with a ``return`` does."""

        def take() -> Any:
            for item in self.saver.list(config):
                return item
            return None

        return self._timed(take)

    def delta_history(self, config: Config, channels: Sequence[str]) -> Any:
        return self._timed(
            self.saver.get_delta_channel_history, config=config, channels=list(channels)
        )

    def invoke(self, operation: str, *arguments: Any, **named: Any) -> Any:
        return self._timed(getattr(self.saver, operation), *arguments, **named)


class AsyncDriver:
    """Drives the async API on an event loop in a thread of its own."""

    api = "async"

    def __init__(self, saver: Any, loop: Loop) -> None:
        self.saver = saver
        self.loop = loop
        self.calls = 0
        self.seconds = 0.0
        self.takes_paths = takes_task_path(getattr(saver, "aput_writes", None))

    def _timed(self, coroutine: Coroutine[Any, Any, T]) -> T:
        self.calls += 1
        started = time.perf_counter()
        try:
            return self.loop.run(coroutine)
        finally:
            self.seconds += time.perf_counter() - started

    def put(self, call: PutCall) -> Any:
        async def put() -> Any:
            return await self.saver.aput(
                call.config, call.checkpoint, call.metadata, call.new_versions
            )

        return self._timed(put())

    def put_writes(self, call: PutWritesCall) -> Any:
        async def put_writes() -> Any:
            if self.takes_paths:
                return await self.saver.aput_writes(
                    call.config, call.writes, call.task_id, call.task_path
                )
            return await self.saver.aput_writes(call.config, call.writes, call.task_id)

        return self._timed(put_writes())

    def get_tuple(self, config: Config) -> Any:
        async def get_tuple() -> Any:
            return await self.saver.aget_tuple(config)

        return self._timed(get_tuple())

    def list_tuples(self, config: Config | None, arguments: dict[str, Any]) -> list[Any]:
        async def collect() -> list[Any]:
            listed: list[Any] = []
            async for item in self.saver.alist(config, **arguments):
                _take(item, listed)
            return listed

        return self._timed(collect())

    def first_listed(self, config: Config) -> Any:
        """Take one item of a listing and leave it, as an ``async for`` with a ``return`` does."""

        async def take() -> Any:
            async for item in self.saver.alist(config):
                return item
            return None

        return self._timed(take())

    def delta_history(self, config: Config, channels: Sequence[str]) -> Any:
        async def history() -> Any:
            return await self.saver.aget_delta_channel_history(
                config=config, channels=list(channels)
            )

        return self._timed(history())

    def invoke(self, operation: str, *arguments: Any, **named: Any) -> Any:
        async def invoke() -> Any:
            return await getattr(self.saver, "a" + operation)(*arguments, **named)

        return self._timed(invoke())
