"""Savers that handle the second write under a key wrongly."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import ChannelVersions, Checkpoint

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake

Batch = Sequence[tuple[str, Any]]
# A saver that keeps two rows of one id, or refuses the second, cannot replace it either.
REPLACES = {"upsert/put-replaces"}
MIXED = {"upsert/special-write-last-wins-mixed"}

BY_STALE_METADATA = {"deletion/runs", "filter/dotted-key", "filter/equality", "filter/nested"}
"""Contracts that are also broken by a saver which looks at the metadata of a first, replaced
put.
"""


class FirstValuesStay(ReferenceSaver):
    """Keeps the values of the first put, as a saver does that stores values in the checkpoint's
    row.
    """

    def _values_to_store(
        self, shelf: Shelf, row: CheckpointRow, checkpoint: Checkpoint, new: ChannelVersions
    ) -> dict[Hashable, Blob | None]:
        if row.id in shelf.checkpoints:
            return {}
        return super()._values_to_store(shelf, row, checkpoint, new)


@mistake("upsert/put-is-idempotent", "INSERT without a conflict clause", also=REPLACES)
class InsertOnly(FirstValuesStay):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if row.id in shelf.checkpoints:
            raise ValueError(f"UNIQUE constraint failed: checkpoints.checkpoint_id {row.id}")
        super()._store_checkpoint(shelf, row)


@mistake(
    "upsert/put-is-idempotent",
    "no unique key, so each put appends a row",
    also=REPLACES | {"deletion/runs"},
)
class AppendOnly(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if old := shelf.checkpoints.get(row.id):
            shelf.checkpoints[f" {len(shelf.checkpoints)} {row.id}"] = old
        super()._store_checkpoint(shelf, row)


@mistake(
    "upsert/put-is-idempotent", "the saver numbers the steps itself, by its puts", also=REPLACES
)
class CountsPutsAsSteps(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if old := shelf.checkpoints.get(row.id):
            steps = self._load_metadata(old.metadata).get("step", 0) + 1
            metadata = {**self._load_metadata(row.metadata), "step": steps}
            row = replace(row, metadata=self._dump_metadata(metadata))
        super()._store_checkpoint(shelf, row)


@mistake("upsert/put-replaces", "ON CONFLICT DO NOTHING", also=BY_STALE_METADATA)
class FirstPutWins(FirstValuesStay):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        shelf.checkpoints.setdefault(row.id, row)


@mistake(
    "upsert/put-replaces",
    "DO UPDATE SET names the checkpoint and forgets the metadata",
    also=BY_STALE_METADATA,
)
class MetadataNotReplaced(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if old := shelf.checkpoints.get(row.id):
            row = replace(row, metadata=old.metadata)
        super()._store_checkpoint(shelf, row)


@mistake("upsert/put-replaces", "DO UPDATE SET names the metadata and forgets the checkpoint")
class OnlyMetadataReplaced(FirstValuesStay):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if old := shelf.checkpoints.get(row.id):
            row = replace(old, metadata=row.metadata)
        super()._store_checkpoint(shelf, row)


@mistake("upsert/put-replaces", "the document database merges the metadata into the old one")
class MetadataMerged(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if old := shelf.checkpoints.get(row.id):
            merged = {**self._load_metadata(old.metadata), **self._load_metadata(row.metadata)}
            row = replace(row, metadata=self._dump_metadata(merged))
        super()._store_checkpoint(shelf, row)


@mistake("upsert/put-replaces", "channels that the second put no longer has stay from the first")
class ChannelsMerged(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if old := shelf.checkpoints.get(row.id):
            row = replace(row, versions={**old.versions, **row.versions})
        super()._store_checkpoint(shelf, row)


@mistake(
    "upsert/reput-keeps-writes", "INSERT OR REPLACE deletes the row, ON DELETE CASCADE its writes"
)
class ReputCascades(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if row.id in shelf.checkpoints:
            shelf.writes.pop(row.id, None)
        super()._store_checkpoint(shelf, row)


@mistake("upsert/reput-keeps-writes", "a put clears the regular writes, taken for those of a retry")
class ReputDropsRegularWrites(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if row.id in shelf.checkpoints:
            writes = shelf.writes.get(row.id, {})
            shelf.writes[row.id] = {key: w for key, w in writes.items() if w.index < 0}
        super()._store_checkpoint(shelf, row)


@mistake("upsert/regular-write-first-wins", "INSERT OR REPLACE for every write")
class RegularWriteReplaced(ReferenceSaver):
    def _replaces(self, row: WriteRow) -> bool:
        return True


@mistake(
    "upsert/regular-write-first-wins",
    "a task that has writes is taken for done",
    also={"pending-writes/complete"},
)
class OneBatchPerTask(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        stored = shelf.writes.get(checkpoint_id, {})
        done = {row.task_id for row in stored.values() if row.index >= 0}
        rows = [row for row in rows if row.index < 0 or row.task_id not in done]
        super()._store_batch(shelf, checkpoint_id, rows)


@mistake("upsert/regular-write-first-wins", "a retry deletes what the task wrote before")
class RetryReplacesBatch(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        stored = shelf.writes.setdefault(checkpoint_id, {})
        tasks = {row.task_id for row in rows if row.index >= 0}
        for key, old in list(stored.items()):
            if old.index >= 0 and old.task_id in tasks:
                del stored[key]
        super()._store_batch(shelf, checkpoint_id, rows)


@mistake(
    "upsert/regular-write-first-wins",
    "each batch begins with a DELETE of all that its task wrote",
    also={"pending-writes/complete", "pending-writes/special-index"},
)
class BatchReplacesTask(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        stored = shelf.writes.setdefault(checkpoint_id, {})
        tasks = {row.task_id for row in rows}
        for key, old in list(stored.items()):
            if old.task_id in tasks:
                del stored[key]
        super()._store_batch(shelf, checkpoint_id, rows)


@mistake(
    "upsert/regular-write-first-wins",
    "each batch, an empty one as well, begins with a DELETE of all that its task wrote",
    also={"pending-writes/complete", "pending-writes/special-index", "pending-writes/empty-batch"},
)
class EachBatchReplacesTask(ReferenceSaver):
    def put_writes(self, config: Any, writes: Batch, task_id: str, task_path: str = "") -> None:
        shelf = self._shelf(self._thread_of(config), self._writes_ns(config))
        stored = shelf.writes.get(self._writes_id(config), {})
        for key in [key for key, row in stored.items() if row.task_id == task_id]:
            del stored[key]
        super().put_writes(config, writes, task_id, task_path)


@mistake("upsert/regular-write-first-wins", "a retry's regular writes have no key and pile up")
class RegularWritesPileUp(ReferenceSaver):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        if row.index < 0:
            super()._store_write(stored, row)
        else:
            stored[(row.task_id, row.index, len(stored))] = row


@mistake(
    "upsert/regular-write-first-wins",
    "each batch is appended to what the task wrote before",
    also=MIXED
    | {
        "ordering/writes-sorted",
        "pending-writes/special-index",
        "upsert/special-write-last-wins",
    },
)
class WritesAppended(ReferenceSaver):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        written = sum(old.task_id == row.task_id for old in stored.values())
        stored[(row.task_id, written)] = replace(row, index=written)


@mistake("upsert/regular-write-first-wins", "INSERT without OR IGNORE refuses the retry")
class RetryRefused(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        stored = shelf.writes.get(checkpoint_id, {})
        if any(row.index >= 0 and self._write_key(row) in stored for row in rows):
            raise ValueError("UNIQUE constraint failed: writes.task_id, writes.idx")
        super()._store_batch(shelf, checkpoint_id, rows)


@mistake("upsert/special-write-last-wins", "INSERT OR IGNORE for every write", also=MIXED)
class SpecialWriteFirstWins(ReferenceSaver):
    def _replaces(self, row: WriteRow) -> bool:
        return False


@mistake("upsert/special-write-last-wins", "special writes have no key and pile up", also=MIXED)
class SpecialWritesPileUp(ReferenceSaver):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        if row.index < 0:
            stored[(row.task_id, row.index, len(stored))] = row
        else:
            super()._store_write(stored, row)


@mistake(
    "upsert/special-write-last-wins", "only errors were thought of as written twice", also=MIXED
)
class OnlyErrorsReplaced(ReferenceSaver):
    def _replaces(self, row: WriteRow) -> bool:
        return row.index == -1


class OneStatementForABatch(ReferenceSaver):
    """Replaces either all writes of a repeated batch, or none of them."""

    def _batch_replaces(self, rows: list[WriteRow]) -> bool:
        raise NotImplementedError

    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        if not self._batch_replaces(rows):
            stored = shelf.writes.get(checkpoint_id, {})
            firsts: dict[Hashable, WriteRow] = {}
            for row in rows:
                firsts.setdefault(self._write_key(row), row)
            rows = [row for key, row in firsts.items() if key not in stored]
        super()._store_batch(shelf, checkpoint_id, rows)

    def _replaces(self, row: WriteRow) -> bool:
        return True


@mistake(
    "upsert/special-write-last-wins-mixed", "one statement a batch, replacing if all are special"
)
class MixedBatchIgnores(OneStatementForABatch):
    def _batch_replaces(self, rows: list[WriteRow]) -> bool:
        return all(row.index < 0 for row in rows)


@mistake(
    "upsert/special-write-last-wins-mixed",
    "one statement a batch, replacing if any is special",
    also={"pending-writes/complete", "upsert/regular-write-first-wins"},
)
class MixedBatchReplaces(OneStatementForABatch):
    def _batch_replaces(self, rows: list[WriteRow]) -> bool:
        return any(row.index < 0 for row in rows)


@mistake(
    "upsert/special-write-last-wins-mixed",
    "the first write of a batch decides for all",
    also={"pending-writes/complete", "upsert/regular-write-first-wins"},
)
class FirstWriteDecides(OneStatementForABatch):
    def _batch_replaces(self, rows: list[WriteRow]) -> bool:
        return any(row.index < 0 for row in rows[:1])
