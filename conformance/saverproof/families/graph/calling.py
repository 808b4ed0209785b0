"""Calls graphs and savers through the sync or the async API, the same way round for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from saverproof.targets.opening import EventLoop


class Caller(Protocol):
    """How the methods of a graph or a saver are called, named as in the sync API."""

    def call(self, thing: Any, method: str, *arguments: Any, **named: Any) -> Any:
        """The answer of a method."""
        ...

    def gather(
        self, thing: Any, method: str, each: Callable[[Any], None], *arguments: Any, **named: Any
    ) -> None:
        """Hand everything that an iterating method yields to ``each``, when it comes."""
        ...


class SyncCaller:
    """The sync API, on the calling thread."""

    def call(self, thing: Any, method: str, *arguments: Any, **named: Any) -> Any:
        """The answer of a method."""
        return getattr(thing, method)(*arguments, **named)

    def gather(
        self, thing: Any, method: str, each: Callable[[Any], None], *arguments: Any, **named: Any
    ) -> None:
        """Hand everything that an iterating method yields to ``each``, when it comes."""
        for item in getattr(thing, method)(*arguments, **named):
            each(item)


class AsyncCaller:
    """The async API, on an event loop in a thread of its own."""

    def __init__(self, loop: EventLoop) -> None:
        self.loop = loop

    def call(self, thing: Any, method: str, *arguments: Any, **named: Any) -> Any:
        """The answer of a method."""

        async def answer() -> Any:
            return await getattr(thing, f"a{method}")(*arguments, **named)

        return self.loop.run(answer())

    def gather(
        self, thing: Any, method: str, each: Callable[[Any], None], *arguments: Any, **named: Any
    ) -> None:
        """Hand everything that an iterating method yields to ``each``, when it comes."""

        async def hand_over() -> None:
            async for item in getattr(thing, f"a{method}")(*arguments, **named):
                each(item)

        self.loop.run(hand_over())


def caller(api: str, loop: EventLoop) -> Caller:
    """The caller for "sync" or "async"."""
    return SyncCaller() if api == "sync" else AsyncCaller(loop)


def gathered(caller: Caller, thing: Any, method: str, *arguments: Any, **named: Any) -> list[Any]:
    """All that an iterating method yields."""
    found: list[Any] = []
    caller.gather(thing, method, found.append, *arguments, **named)
    return found


__all__ = ["AsyncCaller", "Caller", "SyncCaller", "caller", "gathered"]
