"""Savers that put pending writes in the wrong place, or lose early or late ones."""

from __future__ import annotations

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake


# One task id on two checkpoints is one key: the second batch is taken for a retry of the first.
# Two equal writes of the null task look like one that was repeated.
@mistake(
    "pending-writes/scoped",
    "WHERE task_id IN (...): the checkpoint's place is forgotten",
    also={"upsert/regular-write-first-wins"},
)
class WritesByTaskId(ReferenceSaver):
    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        tasks = {write.task_id for write in shelf.writes.get(row.id, {}).values()}
        everywhere = [
            write
            for other in self._all_shelves()
            for writes in other.writes.values()
            for write in writes.values()
            if write.task_id in tasks
        ]
        return self._ordered_writes(everywhere)


@mistake(
    "pending-writes/scoped",
    "writes are looked up by checkpoint id alone",
    # A copy has the checkpoint ids of its source.
    also={
        "deletion/copy-complete",
        "deletion/copy-independent",
        "isolation/same-id-in-namespaces",
    },
)
class WritesByCheckpointId(ReferenceSaver):
    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        return self._ordered_writes(
            write
            for other in self._all_shelves()
            for write in other.writes.get(row.id, {}).values()
        )


@mistake("isolation/same-id-in-namespaces", "the writes table has no namespace column")
class WritesWithoutNamespace(ReferenceSaver):
    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        return self._ordered_writes(
            write
            for other in self._shelves_of(row.thread)
            for write in other.writes.get(row.id, {}).values()
        )


@mistake(
    "pending-writes/scoped",
    "the namespace's writes, whichever checkpoint they belong to",
    also={"deletion/prune-keeps-delta-chain"},
)
class WritesOfTheWholeNamespace(ReferenceSaver):
    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        return self._ordered_writes(
            write for writes in shelf.writes.values() for write in writes.values()
        )


# The first call of a store may be an early write.
@mistake(
    "pending-writes/early-writes-kept",
    "a foreign key from writes to checkpoints",
    also={"lifecycle/any-first-operation", "lifecycle/any-first-operation-before-setup"},
)
class ForeignKeyOnWrites(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        if rows and checkpoint_id not in shelf.checkpoints:
            raise ValueError("FOREIGN KEY constraint failed")
        super()._store_batch(shelf, checkpoint_id, rows)


@mistake(
    "pending-writes/early-writes-kept",
    "UPDATE of a document that is not there yet does nothing",
    also={"deletion/copy-complete"},
)
class EarlyWritesDropped(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        if checkpoint_id in shelf.checkpoints:
            super()._store_batch(shelf, checkpoint_id, rows)


@mistake(
    "pending-writes/early-writes-kept",
    "a put makes the document anew, with an empty writes list",
    also={"deletion/copy-complete"},
)
class FirstPutEmptiesWrites(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if row.id not in shelf.checkpoints:
            shelf.writes.pop(row.id, None)
        super()._store_checkpoint(shelf, row)


@mistake("pending-writes/late-writes", "a checkpoint that has children is taken for finished")
class WritesToParentsDropped(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        stored = checkpoint_id in shelf.checkpoints
        if not stored or all(row.parent != checkpoint_id for row in shelf.checkpoints.values()):
            super()._store_batch(shelf, checkpoint_id, rows)


@mistake("pending-writes/late-writes", "only the latest checkpoint can have pending writes")
class WritesToOlderDropped(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        stored = checkpoint_id in shelf.checkpoints
        if not stored or checkpoint_id == max(shelf.checkpoints):
            super()._store_batch(shelf, checkpoint_id, rows)


@mistake(
    "pending-writes/late-writes",
    "writes go to the latest checkpoint, whichever was named",
    also={"pending-writes/scoped"},
)
class LateWritesToTheLatest(ReferenceSaver):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        stored = checkpoint_id in shelf.checkpoints
        super()._store_batch(shelf, max(shelf.checkpoints) if stored else checkpoint_id, rows)


@mistake(
    "pending-writes/complete",
    "putting a child clears what was pending on its parent",
    also={"pending-writes/late-writes"},
)
class ChildClearsParentsWrites(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if row.parent is not None and row.id not in shelf.checkpoints:
            shelf.writes.pop(row.parent, None)
        super()._store_checkpoint(shelf, row)
