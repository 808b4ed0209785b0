"""Savers whose sync and async APIs do not act as one saver."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any, Self

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import ReferenceStore, WriteRow
from saverproof.mistakes.registry import mistake

SAME = "parity/same-answers"
ASYNC = ("async", "crossed")
CROSSED = ("crossed",)


@mistake(SAME, "filter was added to list alone", apis=ASYNC, also={"filter/equality"})
class AsyncListWithoutFilter(ReferenceSaver):
    async def alist(self, config: Any, **options: Any) -> Any:
        for found in self.list(config, **{**options, "filter": None}):
            yield found


@mistake(SAME, "limit was added to list alone", apis=ASYNC, also={"ordering/limit-is-a-prefix"})
class AsyncListWithoutLimit(ReferenceSaver):
    async def alist(self, config: Any, **options: Any) -> Any:
        for found in self.list(config, **{**options, "limit": None}):
            yield found


@mistake(
    SAME,
    "before was added to list alone",
    apis=ASYNC,
    also={"ordering/before-is-exclusive", "ordering/pages-tile"},
)
class AsyncListWithoutBefore(ReferenceSaver):
    async def alist(self, config: Any, **options: Any) -> Any:
        for found in self.list(config, **{**options, "before": None}):
            yield found


@mistake(
    SAME,
    "aget_tuple was written before pending writes",
    apis=ASYNC,
    also={
        "deletion/copy-complete",
        "delta-history/matches-walk",
        "pending-writes/complete",
        "upsert/regular-write-first-wins",
        "upsert/special-write-last-wins",
        "upsert/special-write-last-wins-mixed",
    },
)
class AsyncGetWithoutWrites(ReferenceSaver):
    async def aget_tuple(self, config: Any) -> Any:
        found = self.get_tuple(config)
        return found and found._replace(pending_writes=[])


@mistake(
    SAME,
    "aget_tuple does not select the parent's column",
    apis=ASYNC,
    also={"identity/parent", "delta-history/matches-walk"},
)
class AsyncGetWithoutParent(ReferenceSaver):
    async def aget_tuple(self, config: Any) -> Any:
        found = self.get_tuple(config)
        return found and found._replace(parent_config=None)


@mistake(SAME, "aput stores no parent", apis=ASYNC, also={"identity/parent"})
class AsyncPutWithoutParent(ReferenceSaver):
    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        address = {k: v for k, v in config["configurable"].items() if k != "checkpoint_id"}
        place: Any = {**config, "configurable": address}
        return self.put(place, checkpoint, metadata, new_versions)


@mistake(
    SAME,
    "the fix of put_writes was not made in aput_writes",
    apis=ASYNC,
    also={"serialization/write-values", "upsert/regular-write-first-wins"},
)
class AsyncWritesReplace(ReferenceSaver):
    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        self.__dict__["replaces"] = True
        try:
            self.put_writes(config, writes, task_id, task_path)
        finally:
            self.__dict__["replaces"] = False

    def _replaces(self, row: WriteRow) -> bool:
        return self.__dict__.get("replaces", False) or super()._replaces(row)


@mistake(
    SAME,
    "adelete_thread deletes the root namespace alone",
    apis=ASYNC,
    also={"deletion/thread-all", "deletion/no-ghosts"},
)
class AsyncDeleteOfTheRootOnly(ReferenceSaver):
    async def adelete_thread(self, thread_id: str) -> None:
        for shelf in self._shelves_of(thread_id):
            if shelf.ns == "":
                self._delete_shelf(shelf)


@mistake(SAME, "each API keeps a store of its own", apis=CROSSED)
class TwoStores(ReferenceSaver):
    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        saver.__dict__["other"] = ReferenceSaver(ReferenceStore.at(path / "async"))
        return saver

    def _async_side(self) -> Any:
        other: ReferenceSaver = self.__dict__["other"]
        other.serde = self.serde
        return other


@mistake(SAME, "the async read cache is not cleared by sync writes", apis=CROSSED)
class AsyncReadCache(ReferenceSaver):
    def _cache(self) -> dict[Any, Any]:
        cache: dict[Any, Any] = self.__dict__.setdefault("cache", {})
        return cache

    def _async_side(self) -> Any:
        self._cache().clear()
        return self

    async def aget_tuple(self, config: Any) -> Any:
        key = (self._thread_of(config), self._get_ns(config), self._asked_id(config))
        if key not in self._cache():
            self._cache()[key] = self.get_tuple(config)
        return copy.deepcopy(self._cache()[key])


@mistake(SAME, "async writes are queued until the next async call", apis=CROSSED)
class AsyncWritesQueued(ReferenceSaver):
    def _queue(self) -> list[Any]:
        queue: list[Any] = self.store.extra.setdefault("queue", [])
        return queue

    def _async_side(self) -> Any:
        while self._queue():
            self.put_writes(*self._queue().pop(0))
        return self

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        self._rows_of_batch(writes, task_id, task_path)
        self._queue().append((config, list(writes), task_id, task_path))


class Bridge(ReferenceSaver):
    """A base saver whose sync calls, made on the thread of a running loop, wait for that very
    loop.
    """

    def _wait_for_the_loop(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        done = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop)
        while not done.done():
            # Waits that end, so that a watchdog's exception can end this thread, but seldom: many
            # such threads in one process are not to look like work.
            try:
                done.result(timeout=0.5)
            except TimeoutError:
                continue


@mistake(
    "parity/no-event-loop-hang", "run_coroutine_threadsafe(...).result() in get_tuple", hangs=True
)
class GetWaitsForItsOwnLoop(Bridge):
    def get_tuple(self, config: Any) -> Any:
        self._wait_for_the_loop()
        return super().get_tuple(config)

    async def aget_tuple(self, config: Any) -> Any:
        return super().get_tuple(config)


@mistake("parity/no-event-loop-hang", "run_coroutine_threadsafe(...).result() in list", hangs=True)
class ListWaitsForItsOwnLoop(Bridge):
    def list(self, config: Any, **options: Any) -> Any:
        self._wait_for_the_loop()
        yield from super().list(config, **options)

    async def alist(self, config: Any, **options: Any) -> Any:
        for found in super().list(config, **options):
            yield found


@mistake("parity/no-event-loop-hang", "the guard of get_tuple was forgotten in delete", hangs=True)
class DeleteWaitsForItsOwnLoop(Bridge):
    def delete_thread(self, thread_id: str) -> None:
        self._wait_for_the_loop()
        super().delete_thread(thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)


@mistake("parity/no-event-loop-hang-in-writes", "the guard was forgotten in put", hangs=True)
class PutWaitsForItsOwnLoop(Bridge):
    def put(self, *args: Any, **options: Any) -> Any:
        self._wait_for_the_loop()
        return super().put(*args, **options)

    async def aput(self, *args: Any, **options: Any) -> Any:
        return super().put(*args, **options)


@mistake("parity/no-event-loop-hang-in-writes", "the guard was forgotten in put_writes", hangs=True)
class PutWritesWaitsForItsOwnLoop(Bridge):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self._wait_for_the_loop()
        super().put_writes(config, writes, task_id, task_path)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> Any:
        super().put_writes(config, writes, task_id, task_path)
