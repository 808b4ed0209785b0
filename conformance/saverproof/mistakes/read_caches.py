"""Savers that keep what they have read, and do not drop it when it changes."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig

from saverproof.mistakes.reference.reading import Material
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake


class ReadCached(ReferenceSaver):
    """A base saver that keeps what it has read of a checkpoint until it is closed, or the row of
    that checkpoint changes or goes.
    """

    def _read(self) -> dict[Any, Any]:
        read: dict[Any, Any] = self.__dict__.setdefault("read", {})
        return read

    def _forget(self, shelf: Shelf, id: str) -> None:
        self._read().pop((shelf.thread, shelf.ns, id), None)

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        self._forget(shelf, row.id)
        super()._store_checkpoint(shelf, row)

    def _remove(self, shelf: Shelf) -> None:
        for id in shelf.checkpoints:
            self._forget(shelf, id)
        super()._remove(shelf)

    def _drop(self, shelf: Shelf, ids: list[str]) -> None:
        for id in ids:
            self._forget(shelf, id)
        super()._drop(shelf, ids)

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        for id in shelf.checkpoints:
            self._forget(copy, id)
        super()._copy_shelf(shelf, copy)


@mistake(
    "pending-writes/complete",
    "a read cache that `put` clears and `put_writes` does not",
    also={"pending-writes/late-writes"},
)
class WritesCached(ReadCached):
    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        key = (shelf.thread, shelf.ns, row.id)
        if key not in self._read():
            self._read()[key] = super()._writes_of(shelf, row)
        writes: list[WriteRow] = self._read()[key]
        return writes


@mistake(
    "deletion/thread-all",
    "a read cache by id that what removes a thread does not clear",
    also={"deletion/no-ghosts", "deletion/prune-latest"},
)
class DeletedCached(ReadCached):
    def _material(self, row: CheckpointRow) -> Material:
        key, stored = (row.thread, row.ns, row.id), self._shelf(row.thread, row.ns)
        if key not in self._read() or row.id in stored.checkpoints:
            self._read()[key] = super()._material(row)
        material: Material = self._read()[key]
        return material

    def _find(self, config: RunnableConfig) -> CheckpointRow | None:
        place = (self._thread_of(config), self._get_ns(config), self._asked_id(config))
        kept, *_ = self._read().get(place, [None])
        return super()._find(config) or kept

    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        self._forget(shelf, checkpoint_id)
        super()._store_batch(shelf, checkpoint_id, rows)

    def _remove(self, shelf: Shelf) -> None:
        ReferenceSaver._remove(self, shelf)
