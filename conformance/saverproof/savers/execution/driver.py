"""Calls a saver through its sync or async API: the driver that all families use."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, ClassVar

from saverproof.savers.execution.calls import Config, PutCall, PutWritesCall
from saverproof.savers.execution.own_ids import OwnIds
from saverproof.savers.targets.calling import LEAVE, PAUSE, Api, Each, api_of
from saverproof.savers.targets.event_loop import Loop

_MOST_LISTED = 10_000
"""The number of items above which a listing counts as endless. No program stores as many
checkpoints.
"""


class EndlessListing(Exception):  # noqa: N818 - of the saver, as far as can be seen
    """A listing with more items than any program stores."""


def takes_task_path(method: Any) -> bool:
    """Return whether a put_writes method has a parameter ``task_path``; LangGraph asks the same."""
    try:
        return "task_path" in inspect.signature(method).parameters
    except (TypeError, ValueError):
        return False


def writer_at(turn: int, apis: int) -> int:
    """Return the index of the API that makes write number ``turn``, counted from 1.

    Each API makes two writes in a row, so each reads what the other wrote both before and after its
    own.
    """
    return (turn - 1) // 2 % apis


class ApiDriver:
    """The operations of a saver through one API.

    ``calls`` and ``seconds`` add up what was spent in the saver. With ``ids``, the saver gets ids
    that no other program uses.
    """

    after_item: ClassVar[object] = None
    """What a consumer does after each item of a listing, see ``Each``."""

    def __init__(self, saver: Any, through: Api, ids: OwnIds | None = None) -> None:
        self.saver = saver
        self.through = through
        self.ids = ids
        self.api = through.name
        self.calls = 0
        self.seconds = 0.0
        self.takes_paths = takes_task_path(getattr(saver, through.method("put_writes"), None))
        self._call: Callable[..., Any] = ids.around(through.call) if ids else through.call
        self._items: Callable[..., Any] = ids.around(through.items) if ids else through.items

    def put(self, call: PutCall) -> Any:
        return self.invoke("put", call.config, call.checkpoint, call.metadata, call.new_versions)

    def put_writes(self, call: PutWritesCall) -> Any:
        path = (call.task_path,) if self.takes_paths else ()
        return self.invoke("put_writes", call.config, call.writes, call.task_id, *path)

    def get_tuple(self, config: Config) -> Any:
        return self.invoke("get_tuple", config)

    def list_tuples(self, config: Config | None, arguments: dict[str, Any]) -> Any:
        """Return all items of a listing; a saver that gives over ten thousand raises
        EndlessListing.
        """
        numbers = count(1)

        def counted(_: Any) -> object:
            if next(numbers) > _MOST_LISTED:
                raise EndlessListing(f"the listing went on after {_MOST_LISTED:,} items")
            return self.after_item

        return self._listed(counted, config, arguments)

    def first_listed(self, config: Config) -> Any:
        """Take one item of a listing and abandon it, as a ``for`` loop with a ``return`` does."""
        return next(iter(self._listed(lambda _: LEAVE, config, {})), None)

    def delta_history(self, config: Config, channels: Sequence[str]) -> Any:
        return self.invoke("get_delta_channel_history", config=config, channels=list(channels))

    def invoke(self, operation: str, *arguments: Any, **named: Any) -> Any:
        """Return the answer of an operation, given its name in the sync API."""
        self.calls += 1
        started = time.perf_counter()
        try:
            return self._call(self.saver, operation, *arguments, **named)
        finally:
            self.seconds += time.perf_counter() - started

    def _listed(self, each: Each, config: Config | None, arguments: dict[str, Any]) -> Any:
        self.calls += 1
        started = time.perf_counter()
        try:
            return self._items(self.saver, "list", each, config, **arguments)
        finally:
            self.seconds += time.perf_counter() - started


class AwaitedDriver(ApiDriver):
    """A driver whose answers must be awaited, on the event loop of the caller.

    It awaits something between two items of a listing: an application may do so while it works on
    an item, and may be cancelled there.
    """

    after_item = PAUSE

    def __init__(self, saver: Any, through: Api, ids: OwnIds | None = None) -> None:
        super().__init__(saver, through, ids)
        self._call = ids.around_awaited(through.ask) if ids else through.ask
        self._items = ids.around_awaited(through.ask_items) if ids else through.ask_items


def driver_of(saver: Any, api: str, loop: Loop, ids: OwnIds | None = None) -> ApiDriver:
    """Return a driver for the API "sync" or "async"; coroutines run on ``loop``."""
    return ApiDriver(saver, api_of(api, loop), ids)
