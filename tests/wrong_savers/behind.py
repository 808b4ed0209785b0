"""Savers that answer before they write: a thread does it later, and nobody hears that it failed."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial, wraps
from typing import Any, TypeAlias

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong

SILENT = "atomicity/no-silent-loss"

Waiting: TypeAlias = "queue.Queue[Callable[[], Any] | None]"


def _later(name: str) -> Callable[..., None]:
    plain = getattr(SqliteReference, name)

    @wraps(plain)
    def method(self: AnswersFirst, *given: Any, **options: Any) -> None:
        self.waiting.put(partial(plain, self, *given, **options))

    return method


def _write(waiting: Waiting, pause_s: float) -> None:
    while (action := waiting.get()) is not None:
        time.sleep(pause_s)
        with suppress(Exception):
            action()
        del action
        waiting.task_done()


@wrong(SILENT, "a thread gathers a while, and then writes; what it raises nobody hears")
class AnswersFirst(SqliteReference):
    pause_s = 0.005
    """Seconds to gather: longer than a call takes, so that the caller is gone by then."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.waiting: Waiting = queue.Queue()
        self.writer = threading.Thread(
            target=_write, args=(self.waiting, self.pause_s), daemon=True
        )
        self.writer.start()
        weakref.finalize(self.database, self.waiting.put, None)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, checkpoint, metadata)

        def write() -> None:
            with self.database.writing():
                self._insert_checkpoint(row)

        self.waiting.put(write)
        return self._put_answer(config, row)

    put_writes = _later("put_writes")
    delete_thread = _later("delete_thread")
    delete_for_runs = _later("delete_for_runs")
    copy_thread = _later("copy_thread")
    prune = _later("prune")

    def get_tuple(self, config: Any) -> Any:
        self.waiting.join()
        return super().get_tuple(config)

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        self.waiting.join()
        yield from super().list(config, **options)

    def close(self) -> None:
        if not self.is_clone:
            self.waiting.put(None)
            self.writer.join()
        super().close()


@wrong(SILENT, "the same, and the thread writes at once")
class AnswersFirstAndWritesAtOnce(AnswersFirst):
    pause_s = 0.0


# What is not stored when it is looked at may be stored by the next look.
@wrong(SILENT, "and reads do not wait for it", also={"atomicity/no-late-commit"})
class ReadsDoNotWait(AnswersFirst):
    pause_s = 0.02

    def get_tuple(self, config: Any) -> Any:
        return SqliteReference.get_tuple(self, config)

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        return SqliteReference.list(self, config, **options)
