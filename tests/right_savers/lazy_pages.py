"""A saver that fetches the pages of a listing as they are asked for, each a little late."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

PAGE = 2
LATEST_S = 0.002


@right(
    "a listing is fetched page by page, each after a random while",
    about={"filter", "ordering", "resources"},
)
class LazyPages(SqliteReference):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.random = Random(1)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        with self.database.reading():
            rows = self._page(config, filter, before, limit)
        for start in range(0, len(rows), PAGE):
            time.sleep(self.random.random() * LATEST_S)
            with self.database.reading():
                page = [
                    (found, self._stored_writes(found))
                    for row in rows[start : start + PAGE]
                    for found in self._rows("thread = ? AND ns = ? AND id = ?", *_key(row))
                ]
            for row, writes in page:
                yield self._tuple(row, {}, writes)


def _key(row: Any) -> tuple[str, str, str]:
    return (row.thread, row.ns, row.id)
