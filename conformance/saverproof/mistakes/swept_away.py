"""Savers whose removals sweep up writes that wait for a checkpoint, or leave rows in an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf
from saverproof.mistakes.registry import mistake
from saverproof.mistakes.what_is_removed import RunIndex


class Sweeping(ReferenceSaver):
    """A base saver that can remove the writes of which no checkpoint is stored."""

    def _sweep(self, shelves: Iterable[Shelf]) -> None:
        for shelf in list(shelves):
            shelf.writes = {id: w for id, w in shelf.writes.items() if id in shelf.checkpoints}


@mistake(
    "deletion/thread-all",
    "DELETE FROM writes WHERE id NOT IN (SELECT id FROM checkpoints), in every thread",
)
class DeletingSweepsAllThreads(Sweeping):
    def delete_thread(self, thread_id: str) -> None:
        with self.store.lock:
            super().delete_thread(thread_id)
            self._sweep(self._all_shelves())


@mistake("deletion/runs", "writes without a checkpoint are swept up with a run, in every thread")
class RunsSweepAllThreads(Sweeping):
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.store.lock:
            super().delete_for_runs(run_ids)
            self._sweep(self._all_shelves())


@mistake("deletion/runs", "writes without a checkpoint are swept up where a run's checkpoints go")
class RunsSweepTheirNamespace(Sweeping):
    def _drop_runs(self, shelf: Shelf, ids: list[str]) -> None:
        super()._drop_runs(shelf, ids)
        if ids:
            self._sweep([shelf])


@mistake("deletion/prune-latest", "pruning sweeps up writes without a checkpoint in every thread")
class PruningSweepsAllThreads(Sweeping):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        with self.store.lock:
            super().prune(thread_ids, strategy=strategy)
            self._sweep(self._all_shelves())


@mistake(
    "deletion/copy-complete",
    "the index of runs keeps what a deletion removed, and its key is taken when that is copied",
)
class CopyFindsItsKeyTaken(RunIndex):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        for id in shelf.checkpoints:
            if (copy.thread, copy.ns, id) in self._index():
                raise ValueError("UNIQUE constraint failed: runs.thread, runs.ns, runs.id")
        super()._copy_shelf(shelf, copy)


class MetadataIndex(ReferenceSaver):
    """A base saver that filters by rows of an index. A put removes the rows of the checkpoint that
    it replaces; a removal, those that `_unindex` is given.
    """

    def _rows_of_index(self) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
        index: dict[tuple[str, str, str], list[dict[str, Any]]]
        index = self.store.extra.setdefault("index of metadata", {})
        return index

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        key = (row.thread, row.ns, row.id)
        if row.id in shelf.checkpoints:
            self._rows_of_index().pop(key, None)
        super()._store_checkpoint(shelf, row)
        self._rows_of_index().setdefault(key, []).append(self._load_metadata(row.metadata))

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        super()._copy_shelf(shelf, copy)
        for id in shelf.checkpoints:
            rows = self._rows_of_index().get((shelf.thread, shelf.ns, id), [])
            self._rows_of_index().setdefault((copy.thread, copy.ns, id), []).extend(rows)

    def _filtered(
        self, rows: list[CheckpointRow], filter: dict[str, Any] | None
    ) -> list[CheckpointRow]:
        if not filter:
            return rows
        indexed = self._rows_of_index()
        return [
            row
            for row in rows
            if any(self._matches(m, filter) for m in indexed.get((row.thread, row.ns, row.id), ()))
        ]

    def _remove(self, shelf: Shelf) -> None:
        super()._remove(shelf)
        self._unindex(shelf, list(shelf.checkpoints))

    def _drop(self, shelf: Shelf, ids: list[str]) -> None:
        super()._drop(shelf, ids)
        self._unindex(shelf, ids)

    def _unindex(self, shelf: Shelf, ids: Iterable[str]) -> None:
        for id in ids:
            self._rows_of_index().pop((shelf.thread, shelf.ns, id), None)


@mistake(
    "deletion/no-ghosts",
    "delete_thread leaves the rows of an index of metadata, and a put adds to them",
    also={"deletion/copy-complete", "deletion/prune-latest"},
)
class DeletedIsStillIndexed(MetadataIndex):
    def _remove(self, shelf: Shelf) -> None:
        ReferenceSaver._remove(self, shelf)


@mistake(
    "deletion/runs",
    "delete_for_runs leaves the rows of an index of metadata, and a put adds to them",
    also={"deletion/copy-complete"},
)
class RunsAreStillIndexed(MetadataIndex):
    def _drop_runs(self, shelf: Shelf, ids: list[str]) -> None:
        kept = {id: [*self._rows_of_index().get((shelf.thread, shelf.ns, id), ())] for id in ids}
        super()._drop_runs(shelf, ids)
        self._rows_of_index().update(
            {(shelf.thread, shelf.ns, id): rows for id, rows in kept.items()}
        )


@mistake("deletion/copy-complete", "the index of metadata is filled by put, and not by copy_thread")
class CopyIsNotIndexed(MetadataIndex):
    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        ReferenceSaver._copy_shelf(self, shelf, copy)
