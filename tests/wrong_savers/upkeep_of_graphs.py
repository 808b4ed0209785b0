"""Savers whose prune breaks a graph that goes on beside it, and no run of plain calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers.in_threads import InThreads
from tests.wrong_savers.registry import wrong
from tests.wrong_savers.upkeep import PRUNE

NEWEST_OF_EACH = "SELECT ns, max(id) FROM checkpoints WHERE thread = ? GROUP BY ns"
CONTROL = "thread = ? AND position < 0"
"""Questions, answers and errors have numbers of their own, below those of results."""


@wrong(PRUNE, "questions of what was not the newest go in a second transaction: new ones as well")
class PruneOfQuestionsByWhatWasNewest(InThreads, SqliteReference):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        with self.database.reading():
            newest = {thread: self.database.rows(NEWEST_OF_EACH, thread) for thread in thread_ids}
        super().prune(thread_ids, strategy=strategy)
        if strategy != "keep_latest":
            return
        with self.database.writing():
            for thread, found in newest.items():
                kept = " AND ".join(["NOT (ns = ? AND id = ?)"] * len(found)) or "TRUE"
                self.database.run(
                    f"DELETE FROM writes WHERE {CONTROL} AND {kept}",
                    *(thread, *(one for row in found for one in row)),
                )


@wrong(PRUNE, "what was asked and answered is read, then written anew: an answer since is undone")
class PruneWritesAnswersAnew(InThreads, SqliteReference):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        with self.database.reading():
            read = {thread: self._control_of(thread) for thread in thread_ids}
        super().prune(thread_ids, strategy=strategy)
        if strategy != "keep_latest":
            return
        with self.database.writing():
            for rows in read.values():
                for row in rows:
                    self.database.run(
                        "INSERT OR REPLACE INTO writes SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE "
                        "EXISTS (SELECT 1 FROM checkpoints WHERE thread = ? AND ns = ? AND id = ?)",
                        *(*row, *row[:3]),
                    )

    def _control_of(self, thread: str) -> Sequence[tuple[Any, ...]]:
        return self.database.rows(f"SELECT * FROM writes WHERE {CONTROL}", thread)
