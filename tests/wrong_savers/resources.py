"""Savers of whose work something stays."""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import os
import queue
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from langgraph.checkpoint.base import CheckpointTuple

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

FLAT = "resources/flat"
UNKNOWN = "resources/unknown-threads"


class Hoarding(SqliteReference):
    """Has a place for what it keeps, and closes it with the saver."""

    def __init__(self, folder: Path, *, serde: Any = None) -> None:
        super().__init__(folder, serde=serde)
        self.hoard: list[Any] = []

    def close(self) -> None:
        super().close()
        for kept in self.hoard:
            if hasattr(kept, "close"):
                kept.close()


@wrong(FLAT, "a file is opened for each read, and closed by nobody")
class DescriptorEachRead(Hoarding):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        self.hoard.append(self.database.path.open("rb"))
        return super().get_tuple(config)


@wrong(FLAT, "a connection is opened for each batch of writes, and closed with the saver")
class ConnectionEachBatch(Hoarding):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        connection = sqlite3.connect(self.database.path, check_same_thread=False)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self.hoard.append(connection)
        super().put_writes(config, writes, task_id, task_path)


@wrong(UNKNOWN, "a lock for each thread that is asked for, removed when the thread is deleted")
class LockForEachThread(SqliteReference):
    def __init__(self, folder: Path, *, serde: Any = None) -> None:
        super().__init__(folder, serde=serde)
        self.locks: dict[str, threading.Lock] = {}

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        with self.locks.setdefault(config["configurable"]["thread_id"], threading.Lock()):
            return super().get_tuple(config)

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self.locks.pop(str(thread_id), None)


@wrong(FLAT, "a cache by thread id that nothing ever leaves")
class CacheOfAllThreads(Hoarding):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        self.hoard.append(dict(checkpoint))
        return answer


@wrong(FLAT, "a cache of what was read, by checkpoint, that nothing ever leaves")
class CacheOfAllThatIsRead(Hoarding):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        found = super().get_tuple(config)
        if found is not None and (key := repr(found.config)) not in self.hoard:
            self.hoard.append(key)
        return found


@wrong(FLAT, "each read is noted, and the notes are read by nobody", also={UNKNOWN})
class ReadsAreNoted(Hoarding):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        asked = config["configurable"]
        names = ("thread_id", "checkpoint_ns", "checkpoint_id")
        self.hoard.append((*map(asked.get, names), "read"))
        return super().get_tuple(config)


@wrong(FLAT, "what fails is kept for a report that nobody asks for")
class FailuresKept(Hoarding):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        try:
            return super().put(config, checkpoint, metadata, new_versions)
        except Exception as error:
            self.hoard.append(error)
            raise


@wrong(FLAT, "a connection on which a put failed is not given back to the pool of thirty")
class FailedConnectionsAreLost(SqliteReference):
    lost = 0

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if self.lost == 30:
            raise TimeoutError("no connection is free")
        try:
            return super().put(config, checkpoint, metadata, new_versions)
        except TypeError:
            self.lost += 1
            raise


@wrong(FLAT, "a connection for each read, which is closed only if the read succeeds")
class FailedReadsStayOpen(Hoarding):
    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        connection = sqlite3.connect(self.database.path, check_same_thread=False)
        self.hoard.append(connection)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        found = super().get_tuple(config)
        self.hoard.pop().close()
        return found


@wrong(FLAT, "a connection whose statement failed is not given back to the pool of twenty")
class RefusedConnectionsAreLost(SqliteReference):
    lost = 0

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        if self.lost == 20:
            raise TimeoutError("no connection is free")
        try:
            return super().put(config, checkpoint, metadata, new_versions)
        except sqlite3.Error:
            self.lost += 1
            raise


@wrong(FLAT, "a temporary file for each checkpoint, removed by nobody")
class TemporaryFileEachPut(SqliteReference):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        descriptor, _ = tempfile.mkstemp(prefix="checkpoint-")
        os.write(descriptor, checkpoint["id"].encode())
        os.close(descriptor)
        return super().put(config, checkpoint, metadata, new_versions)


class Feed:
    """Gives items from a thread, which waits until the one before was taken."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.given: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.wanted = threading.Semaphore(0)
        self.closed = False
        threading.Thread(target=self.feed, daemon=True).start()

    def feed(self) -> None:
        for item in self.items:
            self.wanted.acquire()
            if self.closed:
                return
            self.given.put(item)

    def take(self) -> Any:
        self.wanted.release()
        return self.given.get()

    def close(self) -> None:
        self.closed = True
        self.wanted.release()


@wrong(FLAT, "a listing that is left leaves the thread that feeds it waiting")
class ThreadFeedsListing(Hoarding):
    def list(self, config: Any, **options: Any) -> Iterator[CheckpointTuple]:
        feed = Feed([*super().list(config, **options), None])
        self.hoard.append(feed)
        while (item := feed.take()) is not None:
            yield item
        self.hoard.remove(feed)


@wrong(FLAT, "each write is followed by a task that nobody awaits", apis=("async",))
class TaskEachPut(SqliteReference):
    async def aput(self, *arguments: Any) -> Any:
        answer = await super().aput(*arguments)
        asyncio.get_running_loop().create_task(asyncio.sleep(3_600), name="flushing")
        return answer


@wrong(FLAT, "a call that is cancelled does not give its connection back", apis=("async",))
class PoolLosesConnections(Hoarding):
    """The pool opens another connection where none is free."""

    def __init__(self, folder: Path, *, serde: Any = None) -> None:
        super().__init__(folder, serde=serde)
        self.free: list[sqlite3.Connection] = []

    async def aput(self, *arguments: Any) -> Any:
        if not self.free:
            connection = sqlite3.connect(self.database.path, check_same_thread=False)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            self.hoard.append(connection)
            self.free.append(connection)
        connection = self.free.pop()
        for _ in range(4):
            await asyncio.sleep(0)
        answer = self.put(*arguments)
        self.free.append(connection)
        return answer


@wrong(FLAT, "a batch that is cancelled in its midst leaves a file open", apis=("async",))
class CancelledBatchKeepsItsFile(Hoarding):
    async def aput_writes(self, *arguments: Any, **options: Any) -> None:
        await asyncio.sleep(0)
        kept = self.database.path.open("rb")
        self.hoard.append(kept)
        await asyncio.sleep(0)
        self.put_writes(*arguments, **options)
        kept.close()
        self.hoard.remove(kept)


@wrong(FLAT, "a delta history that is cancelled half-way leaves a file open", apis=("async",))
class CancelledHistoryKeepsItsFile(Hoarding):
    async def aget_delta_channel_history(self, **asked: Any) -> Any:
        kept = self.database.path.open("rb")
        self.hoard.append(kept)
        await asyncio.sleep(0)
        found = self.get_delta_channel_history(**asked)
        kept.close()
        self.hoard.remove(kept)
        return found


@wrong(FLAT, "a temporary file for each copy of a thread, removed by nobody")
class TemporaryFileEachCopy(SqliteReference):
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        descriptor, _ = tempfile.mkstemp(prefix="copy-")
        os.close(descriptor)
        super().copy_thread(source_thread_id, target_thread_id)


@wrong(FLAT, "closing the saver leaves the thread that it has started")
class OpeningStartsThread(SqliteReference):
    numbers = itertools.count()
    ended: ClassVar[threading.Event] = threading.Event()

    def setup(self) -> None:
        super().setup()
        name = f"housekeeping-{next(self.numbers)}"
        threading.Thread(target=self.ended.wait, name=name, daemon=True).start()

    @classmethod
    def end_all(cls) -> None:
        """End the threads that were left, so that nothing else has to wait for them."""
        cls.ended.set()
        cls.ended = threading.Event()


LIBRARY = ctypes.CDLL(None)


@wrong(FLAT, "an engine with threads of its own is opened for each read, and closed with the saver")
class EngineEachRead(SqliteReference):
    """Python knows nothing of these threads."""

    def __init__(self, folder: Path, *, serde: Any = None) -> None:
        super().__init__(folder, serde=serde)
        self.threads: list[int] = []

    def close(self) -> None:
        super().close()
        for thread in map(ctypes.c_ulong, self.threads):
            LIBRARY.pthread_cancel(thread)
            LIBRARY.pthread_join(thread, None)

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        thread = ctypes.c_ulong()
        LIBRARY.pthread_create(ctypes.byref(thread), None, LIBRARY.pause, None)
        self.threads.append(thread.value)
        return super().get_tuple(config)
