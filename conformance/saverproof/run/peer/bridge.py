"""Put a saver's sync API behind an async one: LangGraph's suite calls only the async API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from saverproof.savers.targets.overriding import overrides

_OPERATIONS = (
    *("put", "put_writes", "get_tuple", "delete_thread"),
    *("delete_for_runs", "copy_thread", "prune"),
)


def bridged(saver: Any, *, in_thread: bool) -> BaseCheckpointSaver[Any]:
    """Return the saver with async operations in place of the sync ones that it has, and no others.

    The suite detects a capability by the methods that a class overrides. ``in_thread`` keeps calls
    off the event loop on which an async saver lives.
    """

    async def call(function: Callable[[], Any]) -> Any:
        return await asyncio.to_thread(function) if in_thread else function()

    def forwarding(name: str) -> Any:
        async def forward(self: Any, *given: Any, **named: Any) -> Any:
            return await call(lambda: getattr(saver, name)(*given, **named))

        return forward

    async def alist(self: Any, *given: Any, **named: Any) -> AsyncIterator[Any]:
        for found in await call(lambda: list(saver.list(*given, **named))):
            yield found

    own = {f"a{name}": forwarding(name) for name in _OPERATIONS if overrides(saver, name)}
    if overrides(saver, "list"):
        own["alist"] = alist
    kind = type(f"{type(saver).__name__}OverSync", (BaseCheckpointSaver,), own)
    made: BaseCheckpointSaver[Any] = kind(serde=saver.serde)
    return made
