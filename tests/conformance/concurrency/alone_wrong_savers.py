"""Savers that are wrong with one caller already, as targets that other processes can find.

Each script about one imports this module, and waits for all that it imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import opener
from tests.wrong_savers.concurrency import NoLock, WritesReadAndWrittenBack

from saverproof import target


class LastWriteForgotten(SqliteReference):
    def _rows_of_batch(self, writes: Any, task_id: str, path: str) -> Any:
        return super()._rows_of_batch(writes, task_id, path)[: max(len(writes) - 1, 1)]


class LastWriteForgottenAndNoLock(LastWriteForgotten, NoLock):
    pass


class Repeating(SqliteReference):
    """Lists a checkpoint once for each task that has written to it: a JOIN without DISTINCT."""

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        for found in super().list(config, **options):
            tasks = {task for task, _, _ in found.pending_writes}
            for _ in range(max(len(tasks), 1)):
                yield found


class RepeatingAndLosing(Repeating, WritesReadAndWrittenBack):
    pass


class BatchesSentAgainAreCutShort(SqliteReference):
    """Loses the last write of a task that writes again: callers do so, the rehearsal does not."""

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[Any]) -> None:
        mine = "FROM writes WHERE thread = ? AND ns = ? AND id = ? AND task = ?"
        tasks = {row.task_id for row in rows}
        again = [t for t in tasks if self.database.rows(f"SELECT 1 {mine}", *place, t)]
        super()._insert_writes(place, rows)
        for task in again:
            last = f"(SELECT MAX(position) {mine})"
            self.database.run(f"DELETE {mine} AND position = {last}", *place, task, *place, task)


forgetful = target(name="forgetful")(opener(LastWriteForgotten))
repeating = target(name="repeating")(opener(Repeating))
repeating_and_losing = target(name="repeating-and-losing")(opener(RepeatingAndLosing))
cut_short = target(name="cut-short")(opener(BatchesSentAgainAreCutShort))
torn = target(name="torn")(opener(LastWriteForgottenAndNoLock))
