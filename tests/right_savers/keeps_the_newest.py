"""A saver that keeps the newest checkpoint of a thread alone, and so nothing of its parent."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right

_ALONE = "a thread is its newest checkpoint"


@right(
    "the newest checkpoint of each thread and namespace alone is kept, without its parent's id",
    about={"deletion", "graph", "pending-writes", "upsert"},
    declines={"history": _ALONE, "early_writes": _ALONE, "delta_history": _ALONE},
)
class KeepsTheNewest(SqliteReference):
    def _parent_of(self, config: RunnableConfig) -> None:
        return None

    def _insert_checkpoint(self, row: Any) -> None:
        place = (row.thread, row.ns)
        newer = self._rows("thread = ? AND ns = ? AND id > ?", *place, row.id)
        if newer:
            return
        for table in ("checkpoints", "writes"):
            self.database.run(
                f"DELETE FROM {table} WHERE thread = ? AND ns = ? AND id < ?", *place, row.id
            )
        super()._insert_checkpoint(row)
