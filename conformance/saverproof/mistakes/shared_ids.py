"""Savers whose UPDATE of a checkpoint forgets a part of its key: another place has the same id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake


class _InEachPlace(ReferenceSaver):
    """A saver that changes other places as well."""

    def _others(self, shelf: Shelf) -> Iterator[Shelf]:
        """Yield the other places in which an id is looked for."""
        return (
            each for each in self._all_shelves() if each is not shelf and self._taken(each, shelf)
        )

    def _taken(self, other: Shelf, shelf: Shelf) -> bool:
        raise NotImplementedError


class _InEachNamespace(_InEachPlace):
    def _taken(self, other: Shelf, shelf: Shelf) -> bool:
        return other.thread == shelf.thread


class _InEachThread(_InEachPlace):
    def _taken(self, other: Shelf, shelf: Shelf) -> bool:
        return other.ns == shelf.ns


class _WritesInEachPlace(_InEachPlace):
    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        super()._store_batch(shelf, checkpoint_id, rows)
        for other in self._others(shelf):
            if checkpoint_id in other.checkpoints:
                super()._store_batch(other, checkpoint_id, rows)


class _MetadataInEachPlace(_InEachPlace):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if row.id in shelf.checkpoints:
            for other in self._others(shelf):
                if found := other.checkpoints.get(row.id):
                    other.checkpoints[row.id] = replace(found, metadata=row.metadata)
        super()._store_checkpoint(shelf, row)


@mistake(
    "isolation/same-id-in-namespaces",
    "put_writes adds to the documents WHERE thread_id = ? AND checkpoint_id = ?",
)
class WritesToEachNamespaceOfTheId(_WritesInEachPlace, _InEachNamespace):
    pass


@mistake(
    "isolation/same-id-in-namespaces",
    "a put again: UPDATE ... SET metadata = ? WHERE thread_id = ? AND checkpoint_id = ?",
)
class MetadataOfEachNamespaceOfTheId(_MetadataInEachPlace, _InEachNamespace):
    pass


@mistake(
    "pending-writes/scoped",
    "put_writes adds to the documents WHERE checkpoint_ns = ? AND checkpoint_id = ?",
)
class WritesToEachThreadOfTheId(_WritesInEachPlace, _InEachThread):
    pass


@mistake(
    "isolation/threads",
    "a put again: UPDATE ... SET metadata = ? WHERE checkpoint_ns = ? AND checkpoint_id = ?",
)
class MetadataOfEachThreadOfTheId(_MetadataInEachPlace, _InEachThread):
    pass
