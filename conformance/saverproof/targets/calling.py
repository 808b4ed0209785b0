"""Calls the methods of a saver or a graph through the sync or the async API, named as in the sync
one, blocking or awaited: every other module calls savers by way of this one.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from saverproof.targets.event_loop import Loop

T = TypeVar("T")
Each = Callable[[Any], object]
"""Told of each item of a listing when it comes; the listing is left when it answers ``LEAVE``."""
LEAVE = object()


class Api:
    """One way to call: this one by the sync API, on the calling thread.

    All of it raises what the method raises.
    """

    name = "sync"

    def method(self, name: str) -> str:
        """The name that a method of the sync API has in this one."""
        return name

    def call(self, thing: Any, method: str, /, *arguments: Any, **named: Any) -> Any:
        """The answer of a method."""
        return getattr(thing, method)(*arguments, **named)

    def items(
        self, thing: Any, method: str, each: Each, /, *arguments: Any, **named: Any
    ) -> list[Any]:
        """What an iterating method yields."""
        found: list[Any] = []
        for item in getattr(thing, method)(*arguments, **named):
            found.append(item)
            if each(item) is LEAVE:
                break
        return found

    async def ask(self, thing: Any, method: str, /, *arguments: Any, **named: Any) -> Any:
        """The answer of a method, awaited by a coroutine on the API's event loop."""
        return self.call(thing, method, *arguments, **named)

    async def ask_items(
        self, thing: Any, method: str, each: Each, /, *arguments: Any, **named: Any
    ) -> list[Any]:
        """The same of what an iterating method yields."""
        return self.items(thing, method, each, *arguments, **named)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that awaits nothing else than this API."""
        try:
            coroutine.send(None)
        except StopIteration as ended:
            result: T = ended.value
            return result
        raise AssertionError("the coroutine awaited something else than the sync API")


class AsyncApi(Api):
    """The async API, on an event loop in a thread of its own."""

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
        async for item in getattr(thing, f"a{method}")(*arguments, **named):
            found.append(item)
            if each(item) is LEAVE:
                break
        return found

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(coroutine)


def api_of(name: str, loop: Loop) -> Api:
    """The API called "sync" or "async"."""
    return Api() if name == "sync" else AsyncApi(loop)


def every(item: Any) -> None:
    """Takes each item of a listing to its end."""
