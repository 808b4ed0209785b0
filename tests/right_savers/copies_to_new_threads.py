"""A saver that copies to threads that hold nothing, and refuses others."""

from __future__ import annotations

from tests.reference.sqlite import SqliteReference
from tests.right_savers.registry import right


@right(
    "a copy onto a thread that holds something is refused with an error",
    about={"deletion", "atomicity"},
)
class CopiesToNewThreads(SqliteReference):
    def _copy_checkpoints(self, source: str, target: str) -> None:
        for table in ("checkpoints", "writes"):
            if self.database.rows(f"SELECT 1 FROM {table} WHERE thread = ? LIMIT 1", target):
                raise ValueError(f"target_thread_id: {target!r:.80} holds something already")
        super()._copy_checkpoints(source, target)
