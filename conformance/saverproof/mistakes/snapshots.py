"""Savers that lose something in replaying their log, or in the snapshot that replaces the log.

What is lost is there until the saver is opened again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake
from saverproof.mistakes.what_is_removed import RunIndex

REOPEN = "lifecycle/reopen"


class Snapshots(ReferenceSaver):
    """A base saver that keeps a log of its changes, and replaces it by a snapshot after ``every``
    changes. What `_lose` says of a snapshot is lost when the saver is opened. A saver that loses it
    in replaying the log does so after each change.
    """

    every: ClassVar[int] = 50

    @classmethod
    def at(cls, path: Path) -> Self:
        saver = super().at(path)
        for shelf in saver.store.extra.pop("in a snapshot", []):
            saver._lose(shelf)
        return saver

    def _lose(self, shelf: Shelf) -> None:
        raise NotImplementedError

    def _changed(self) -> None:
        changes = self.store.extra.get("changes", 0) + 1
        self.store.extra["changes"] = changes
        if changes % self.every == 0:
            self.store.extra["in a snapshot"] = list(self._all_shelves())

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        self._changed()

    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        super()._store_batch(shelf, checkpoint_id, rows)
        self._changed()


@mistake(REOPEN, "a snapshot has the writes of its checkpoints, and not those that wait for one")
class SnapshotWithoutEarlyWrites(Snapshots):
    def _lose(self, shelf: Shelf) -> None:
        shelf.writes = {id: rows for id, rows in shelf.writes.items() if id in shelf.checkpoints}


@mistake(REOPEN, "a snapshot has the writes of the newest checkpoint of each namespace alone")
class SnapshotOfTheNewestWrites(Snapshots):
    def _lose(self, shelf: Shelf) -> None:
        newest = max(shelf.checkpoints, default="")
        waiting = shelf.writes.keys() - shelf.checkpoints.keys()
        shelf.writes = {id: rows for id, rows in shelf.writes.items() if id in {newest, *waiting}}


class SnapshotOfWrites(Snapshots):
    """A base saver that changes each write by `_snapped` in a snapshot."""

    def _lose(self, shelf: Shelf) -> None:
        for id, rows in shelf.writes.items():
            shelf.writes[id] = self._snapped(list(rows.values()))

    def _snapped(self, rows: Sequence[WriteRow]) -> dict[Hashable, WriteRow]:
        raise NotImplementedError


@mistake(REOPEN, "a snapshot has the writes without the paths of their tasks")
class SnapshotWithoutPaths(SnapshotOfWrites):
    def _snapped(self, rows: Sequence[WriteRow]) -> dict[Hashable, WriteRow]:
        return {self._write_key(row): replace(row, path="") for row in rows}


@mistake(REOPEN, "a snapshot has the writes in order, and not their numbers")
class SnapshotNumbersWritesAnew(SnapshotOfWrites):
    def _snapped(self, rows: Sequence[WriteRow]) -> dict[Hashable, WriteRow]:
        numbered = (replace(row, index=n) for n, row in enumerate(self._ordered_writes(rows)))
        return {self._write_key(row): row for row in numbered}


@mistake(REOPEN, "a snapshot has no index of runs, and the log that it was made of is gone")
class SnapshotWithoutRuns(RunIndex, Snapshots):
    def _lose(self, shelf: Shelf) -> None:
        index: dict[tuple[str, str, str], Any] = self._index()
        for id in shelf.checkpoints:
            index.pop((shelf.thread, shelf.ns, id), None)


@mistake(REOPEN, "a log is replayed without the paths of tasks")
class ReplaysWithoutPaths(SnapshotWithoutPaths):
    every = 1


@mistake(REOPEN, "a log is replayed without the writes that are None: `if value:`")
class ReplaysWithoutNones(SnapshotOfWrites):
    every = 1

    def _snapped(self, rows: Sequence[WriteRow]) -> dict[Hashable, WriteRow]:
        kept = (row for row in rows if self._load_write(row.value) is not None)
        return {self._write_key(row): row for row in kept}
