"""Savers that keep what they have read, and do not drop it when it changes."""

from __future__ import annotations

from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake


class ReadCached(ReferenceSaver):
    """A base saver that keeps what it has read of a checkpoint until the row of that checkpoint
    changes, or goes.
    """

    def _read(self) -> dict[Any, Any]:
        read: dict[Any, Any] = self.store.extra.setdefault("read", {})
        return read

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        self._read().pop((shelf.thread, shelf.ns, row.id), None)
        super()._store_checkpoint(shelf, row)

    def _remove(self, shelf: Shelf) -> None:
        self._read().clear()
        super()._remove(shelf)

    def _drop(self, shelf: Shelf, ids: list[str]) -> None:
        self._read().clear()
        super()._drop(shelf, ids)

    def _copy_shelf(self, shelf: Shelf, copy: Shelf) -> None:
        self._read().clear()
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
