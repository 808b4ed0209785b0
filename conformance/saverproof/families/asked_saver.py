"""A saver with sync method names whose calls go through the API that is judged.

Families that measure growing stores use it.
"""

from __future__ import annotations

from typing import Any

from saverproof.process import heartbeat
from saverproof.savers.execution.driver import ApiDriver
from saverproof.savers.execution.store import Store
from saverproof_faults import Event, Fault, Moment, Place, Plan, cancel_at

COUNTS_NOTHING = frozenset(
    {
        "saverproof.families",
        "saverproof.process",
        "saverproof.savers",
    }
)
"""Packages that a call passes on its way to the saver. Their lines do not count as the saver's."""


async def awaited(answer: Any) -> None:
    """Await the answer of an async method, or take all items of an async iterator."""
    if hasattr(answer, "__aiter__"):
        async for _ in answer:
            pass
    else:
        await answer


class AskedSaver:
    """The saver of a store. It may be closed and opened again between calls."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._failed: BaseException | None = None

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

    def cancel(
        self, operation: str, arguments: tuple[Any, ...], named: dict[str, Any], wait: int
    ) -> bool:
        """Call an operation of the async API, and cancel it at its ``wait``-th wait, counted from
        1. Return whether it waited that often.

        Raises:
            Exception: the call ended before that, with this error, as the one before it had. The
                saver has run out of something, for which each further call might wait.
        """
        heartbeat.beat(0)
        method = getattr(self._driver.saver, f"a{operation}")
        plan = Plan(Fault.CANCEL, Place(Event.AWAIT, wait, Moment.BEFORE))
        cancelled = cancel_at(lambda: awaited(method(*arguments, **named)), plan)
        ended = self._store.loop.run(cancelled)
        if not ended.fired:
            failed, self._failed = self._failed, ended.error
            if failed is not None and isinstance(ended.error, Exception):
                raise ended.error
        return ended.fired

    def reopen(self) -> None:
        """Close the saver, and open it again."""
        self._store.reopen()

    def _call(self, operation: str, *arguments: Any) -> Any:
        heartbeat.beat(0)
        return self._driver.invoke(operation, *arguments)
