"""A saver that takes plain thread ids alone, and refuses the others."""

from __future__ import annotations

import re
from typing import Any

from langchain_core.runnables import RunnableConfig

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@right(
    "thread ids that are not plain are refused with an error, in every method",
    about={"graph", "identity", "isolation"},
)
class RefusesOddIds(SqliteReference):
    def _thread_of(self, config: RunnableConfig) -> str:
        return _plain(super()._thread_of(config))

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(_plain(thread_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        super().copy_thread(_plain(source_thread_id), _plain(target_thread_id))

    def prune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        super().prune([_plain(thread) for thread in thread_ids], strategy=strategy)


def _plain(thread: str) -> str:
    if not PLAIN.match(thread):
        raise ValueError(f"thread_id: found {thread!r:.80}, expected letters, digits, _ and -")
    return thread
