"""Savers that store a part of each batch of writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import WriteRow
from saverproof.mistakes.registry import mistake

Batch = Sequence[tuple[str, Any]]

# What is not stored replaces nothing, is no retry, and has no index.
NOT_STORED = {
    "pending-writes/special-index",
    "upsert/regular-write-first-wins",
    "upsert/special-write-last-wins",
    "upsert/special-write-last-wins-mixed",
}


@mistake(
    "pending-writes/complete",
    "`return` inside the loop: a batch's first write is stored",
    also=NOT_STORED,
)
class FirstOfABatchAlone(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path)[:1]


@mistake(
    "pending-writes/complete",
    "the statement stands behind the loop: a batch's last write is stored",
    also=NOT_STORED,
)
class LastOfABatchAlone(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path)[-1:]


@mistake(
    "pending-writes/complete",
    "range(len(writes) - 1): a batch's last write is not stored",
    also=NOT_STORED,
)
class LastOfABatchLost(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path)[:-1]


@mistake(
    "pending-writes/complete",
    "rows are sent when the next one comes: the last of several is not",
    also=NOT_STORED,
)
class LastOfSeveralLost(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return rows[:-1] or rows


@mistake(
    "pending-writes/complete",
    "range(1, len(writes)): a batch's first write is not stored",
    also=NOT_STORED,
)
class FirstOfABatchLost(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path)[1:]


@mistake(
    "pending-writes/complete",
    "next(rows) is looked at and not given back: the first of several is not stored",
    also=NOT_STORED,
)
class FirstOfSeveralLost(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return rows[1:] or rows
