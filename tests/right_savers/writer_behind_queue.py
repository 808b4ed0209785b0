"""A saver with one thread that writes: everybody else queues what they want, and waits."""

from __future__ import annotations

import queue
import threading
import weakref
from asyncio import wrap_future
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


@dataclass(frozen=True)
class Queued:
    """What a saver is to do, and the future that its caller waits for."""

    future: Future[Any]
    saver: SqliteReference
    action: Callable[[], Any]


def _write(waiting: queue.SimpleQueue[Queued | None]) -> None:
    while (queued := waiting.get()) is not None:
        # What was queued is done, even if nobody waits for it any more.
        queued.future.set_running_or_notify_cancel()
        try:
            answer = queued.action()
        except BaseException as error:  # noqa: BLE001 (the caller raises it)
            queued.future.set_exception(error)
        else:
            queued.future.set_result(answer)
        del queued


def _queued(name: str) -> Callable[..., Any]:
    @wraps(getattr(SqliteReference, name))
    def method(self: WriterBehindQueue, *args: Any, **options: Any) -> Any:
        return self.queued(name, *args, **options).result()

    return method


def _queued_and_awaited(name: str) -> Callable[..., Any]:
    @wraps(getattr(SqliteReference, name))
    async def method(self: WriterBehindQueue, *args: Any, **options: Any) -> Any:
        return await wrap_future(self.queued(name, *args, **options))

    return method


@right(
    "one thread writes, and everybody else queues: who waited may be gone when it is done",
    about={"resources"},
)
class WriterBehindQueue(SqliteReference):
    write = staticmethod(_write)
    """What the thread does with the queue."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.waiting: queue.SimpleQueue[Queued | None] = queue.SimpleQueue()
        self.writer = threading.Thread(target=self.write, args=(self.waiting,), daemon=True)
        self.writer.start()
        weakref.finalize(self.database, self.waiting.put, None)

    def queued(self, name: str, *args: Any, **options: Any) -> Future[Any]:
        """Have the writer call a method of the plain saver."""
        future: Future[Any] = Future()
        # A future that cannot be cancelled: its work is done in any case.
        future.cancel = lambda: False  # type: ignore[method-assign]
        plain = getattr(SqliteReference, name)
        self.waiting.put(Queued(future, self, partial(plain, self, *args, **options)))
        return future

    put = _queued("put")
    put_writes = _queued("put_writes")
    delete_thread = _queued("delete_thread")
    delete_for_runs = _queued("delete_for_runs")
    copy_thread = _queued("copy_thread")
    prune = _queued("prune")
    aput = _queued_and_awaited("put")
    aput_writes = _queued_and_awaited("put_writes")
    adelete_thread = _queued_and_awaited("delete_thread")
    adelete_for_runs = _queued_and_awaited("delete_for_runs")
    acopy_thread = _queued_and_awaited("copy_thread")
    aprune = _queued_and_awaited("prune")

    def close(self) -> None:
        """Close the file once all that was queued is done."""
        if not self.is_clone:
            self.waiting.put(None)
            self.writer.join()
        super().close()
