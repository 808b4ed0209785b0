"""Calls methods of a saver or graph through the sync or async API, blocking or awaited.

Methods are named as in the sync API. All other modules call savers through this one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from types import coroutine
from typing import Any, TypeVar

from saverproof.savers.targets.event_loop import Loop

T = TypeVar("T")
Each = Callable[[Any], object]
"""A function that is given each item of a listing; it returns ``LEAVE`` to end the listing."""
LEAVE = object()
PAUSE = object()
"""What an ``Each`` returns to await something of the consumer's own before the next item."""


class Api:
    """A way to call a saver. This class calls the sync API on the calling thread.

    All methods raise what the called method raises.
    """

    name = "sync"

    def method(self, name: str) -> str:
        """Return the name in this API of a method of the sync API."""
        return name

    def call(self, thing: Any, method: str, /, *arguments: Any, **named: Any) -> Any:
        """Return the answer of a method."""
        return getattr(thing, method)(*arguments, **named)

    def items(
        self, thing: Any, method: str, each: Each, /, *arguments: Any, **named: Any
    ) -> list[Any]:
        """Return all items that an iterating method yields, until ``each`` returns ``LEAVE``."""
        found: list[Any] = []
        for item in getattr(thing, method)(*arguments, **named):
            found.append(item)
            if each(item) is LEAVE:
                break
        return found

    async def ask(self, thing: Any, method: str, /, *arguments: Any, **named: Any) -> Any:
        """Return the answer of a method, from a coroutine on the API's event loop."""
        return self.call(thing, method, *arguments, **named)

    async def ask_items(
        self, thing: Any, method: str, each: Each, /, *arguments: Any, **named: Any
    ) -> list[Any]:
        """Return all items of an iterating method, from a coroutine on the API's event loop."""
        return self.items(thing, method, each, *arguments, **named)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine that awaits nothing but methods of this API."""
        try:
            coroutine.send(None)
        except StopIteration as ended:
            result: T = ended.value
            return result
        raise AssertionError("the coroutine awaited something else than the sync API")


class AsyncApi(Api):
    """The async API, whose coroutines run on an event loop."""

    name = "async"

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def method(self, name: str) -> str:
        return f"a{name}"

    def call(self, thing: Any, method: str, /, *arguments: Any, **named: Any) -> Any:
        return self._loop.run(self.ask(thing, method, *arguments, **named))

    def items(
        self, thing: Any, method: str, each: Each, /, *arguments: Any, **named: Any
    ) -> list[Any]:
        return self._loop.run(self.ask_items(thing, method, each, *arguments, **named))

    async def ask(self, thing: Any, method: str, /, *arguments: Any, **named: Any) -> Any:
        return await getattr(thing, f"a{method}")(*arguments, **named)

    async def ask_items(
        self, thing: Any, method: str, each: Each, /, *arguments: Any, **named: Any
    ) -> list[Any]:
        found: list[Any] = []
        listing = getattr(thing, f"a{method}")(*arguments, **named)
        async for item in listing:
            found.append(item)
            said = each(item)
            if said is LEAVE:
                break
            if said is PAUSE:
                async with _closing_if_left(listing):
                    await _consumer_between_two_items()
        return found

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(coroutine)


def api_of(name: str, loop: Loop) -> Api:
    """Return the API "sync" or "async"."""
    return Api() if name == "sync" else AsyncApi(loop)


@asynccontextmanager
async def _closing_if_left(listing: Any) -> AsyncIterator[None]:
    """Close a listing that is left by an exception, as ``contextlib.aclosing`` does."""
    try:
        yield
    except BaseException:
        if isinstance(listing, AsyncGenerator):
            await listing.aclose()
        raise


@coroutine
def _consumer_between_two_items() -> Generator[None, None, None]:
    """Let the event loop run once."""
    yield


BETWEEN_ITEMS = f"{__name__}.{_consumer_between_two_items.__qualname__}"
"""The name under which a pause is noted where a consumer's suspensions are counted."""


def every(item: Any) -> None:
    """Let a listing go on to its end; this is an ``each`` that never returns ``LEAVE``."""
