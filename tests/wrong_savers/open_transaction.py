"""A saver that leaves a transaction open when it refuses a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.registry import wrong


@wrong(
    "serialization/unserializable-is-refused",
    "the transaction that a value could not be written in stays open",
    also={"identity/put-returns-address", "pending-writes/complete"},
)
class RefusedStaysOpen(SqliteReference):
    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        self.database.begin()
        self._insert_writes(place, self._rows_of_batch(writes, task_id, task_path))
        self.database.commit()
