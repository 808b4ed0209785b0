"""Savers that remember what they have stored, though another saver may have removed it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake


class WithOwnRecord(ReferenceSaver):
    """A base saver with a record of what it has stored, without what it has removed itself."""

    def _known(self, shelf: Shelf) -> set[Any]:
        known: dict[Any, set[Any]] = self.__dict__.setdefault("known", {})
        return known.setdefault((shelf.thread, shelf.ns), set())

    def _remove(self, shelf: Shelf) -> None:
        super()._remove(shelf)
        self._known(shelf).clear()

    def _drop(self, shelf: Shelf, ids: list[str]) -> None:
        super()._drop(shelf, ids)
        self._known(shelf).clear()


# Versions that come again, as plain counters do in forks, replace the values of an older branch.
@mistake(
    "lifecycle/savers-by-turns",
    "a value that the saver has stored once is not stored again",
    also={"channels/history-immutable"},
)
class StoredValuesRemembered(WithOwnRecord):
    def get_next_version(self, current: Any, channel: None) -> Any:
        return f"{int(current or 0) + 1:032}"

    def _store_values(self, shelf: Shelf, values: dict[Hashable, Blob | None]) -> None:
        known = self._known(shelf)
        fresh = {key: blob for key, blob in values.items() if (key, blob) not in known}
        super()._store_values(shelf, fresh)
        known -= {one for one in known if one[0] in fresh}
        known.update(fresh.items())


@mistake("lifecycle/savers-by-turns", "UPDATE for a checkpoint that the saver has inserted itself")
class InsertedRowsRemembered(WithOwnRecord):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        known = self._known(shelf)
        if row.id in shelf.checkpoints or row.id not in known:
            super()._store_checkpoint(shelf, row)
        known.add(row.id)


@mistake("lifecycle/savers-by-turns", "the batch stored last at a checkpoint is not stored again")
class LastBatchRemembered(WithOwnRecord):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        known, batch = self._known(shelf), (checkpoint_id, *map(repr, rows))
        if batch in known:
            return
        super()._store_batch(shelf, checkpoint_id, rows)
        known -= {one for one in known if one[0] == checkpoint_id}
        known.add(batch)


@mistake("lifecycle/savers-by-turns", "the saver answers from the checkpoints that it put itself")
class OwnPutsAnswered(WithOwnRecord):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        super()._store_checkpoint(shelf, row)
        self._rows(shelf)[row.id] = row

    def _by_id(self, shelf: Shelf, id: str) -> CheckpointRow | None:
        found = super()._by_id(shelf, id)
        return None if found is None else self._rows(shelf).get(id, found)

    def _rows(self, shelf: Shelf) -> dict[str, CheckpointRow]:
        rows: dict[Any, dict[str, CheckpointRow]] = self.__dict__.setdefault("rows", {})
        return rows.setdefault((shelf.thread, shelf.ns), {})
