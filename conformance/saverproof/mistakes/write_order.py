"""Savers that give pending writes in the wrong order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import WriteRow
from saverproof.mistakes.registry import mistake

# The order within one batch is promised by pending-writes/complete too.
BATCH = {"pending-writes/complete"}
# A saver that ignores paths cannot sort the two paths of one task either.
PATHS = {"pending-writes/one-task-two-paths"}


@mistake("ordering/writes-sorted", "rows come as they were inserted", also={*BATCH, *PATHS})
class WritesByInsertion(ReferenceSaver):
    def _ordered_writes(self, rows: Any) -> list[WriteRow]:
        return list(rows)


@mistake(
    "ordering/writes-sorted",
    "ORDER BY rowid: INSERT OR REPLACE gives a row that is there a new one",
    also={*BATCH, *PATHS},
)
class WritesByRowId(WritesByInsertion):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        key = self._write_key(row)
        before = stored.get(key)
        super()._store_write(stored, row)
        if before is not None and stored.get(key) is not before:
            stored[key] = stored.pop(key)


@mistake(
    "ordering/writes-sorted",
    "ORDER BY rowid: each batch stores all rows of its task anew",
    also={*BATCH, *PATHS},
)
class TasksByRowId(WritesByInsertion):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        with self.store.lock:
            super().put_writes(config, writes, task_id, task_path)
            shelf = self._shelf(self._thread_of(config), self._writes_ns(config))
            stored = shelf.writes.get(self._writes_id(config), {})
            for key in [key for key, row in stored.items() if row.task_id == task_id]:
                stored[key] = stored.pop(key)


@mistake("ordering/writes-sorted", "ORDER BY … DESC, as for checkpoints", also={*BATCH, *PATHS})
class WritesBackwards(ReferenceSaver):
    def _ordered_writes(self, rows: Any) -> list[WriteRow]:
        return super()._ordered_writes(rows)[::-1]


@mistake(
    "ordering/writes-sorted",
    "get_tuple turns the writes around, and list and delta histories do not",
    also={*BATCH, *PATHS, "pending-writes/same-in-list"},
)
class GotWritesBackwards(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        return found._replace(pending_writes=(found.pending_writes or [])[::-1])


@mistake(
    "ordering/writes-sorted", "ORDER BY task_id, idx: from before the path was stored", also=PATHS
)
class WritesWithoutPath(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return (row.task_id, row.index)


@mistake("ordering/writes-sorted", "ORDER BY idx", also=PATHS)
class WritesByIndexOnly(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return row.index


@mistake("ordering/writes-sorted", "ORDER BY idx, task_id", also=PATHS)
class WritesByIndexFirst(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return (row.index, row.task_id)


@mistake("ordering/writes-sorted", "ORDER BY task_path, task_id, idx DESC", also=BATCH)
class WriteIndexDescending(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return (row.path, row.task_id, -row.index)


@mistake(
    "ordering/writes-sorted", "a key-value store: the index is text, and 10 is below 2", also=BATCH
)
class WriteIndexAsText(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return (row.path, row.task_id, str(row.index))


@mistake("ordering/writes-sorted", "a column that compares text without case", also=PATHS)
class WritePathWithoutCase(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return (row.path.lower(), row.task_id, row.index)


@mistake(
    "ordering/writes-sorted",
    "the path's numbers are compared as numbers, as a person would",
    also=PATHS,
)
class WritePathNaturally(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        parts = [part.strip() for part in row.path.split(",")]
        numbered = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
        return (numbered, row.task_id, row.index)


@mistake("ordering/writes-sorted", "a locale's collation leaves punctuation out", also=PATHS)
class WritePathByCollation(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        letters = "".join(filter(str.isalnum, row.path)).casefold()
        return (letters, row.path, row.task_id, row.index)


@mistake("ordering/writes-sorted", "ORDER BY task_id, task_path, idx", also=PATHS)
class WritesByTaskFirst(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return (row.task_id, row.path, row.index)


@mistake(
    "ordering/writes-sorted", "special writes are kept apart and put behind the others", also=BATCH
)
class SpecialWritesLast(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return (row.path, row.task_id, row.index < 0, row.index)


@mistake("ordering/writes-sorted", "by path alone, which a parallel task can share", also=BATCH)
class WritesByPathOnly(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return row.path


@mistake(
    "ordering/writes-sorted", "the path's first sixty-four characters are in the index", also=PATHS
)
class PathsCut(ReferenceSaver):
    def _write_order(self, row: WriteRow) -> Any:
        return row.path[:64], row.task_id, row.index


class _CutPaths(ReferenceSaver):
    """A base saver whose column for the task path cuts longer paths."""

    width: int

    def _rows_of_batch(
        self, writes: Sequence[tuple[str, Any]], task_id: str, path: str
    ) -> list[WriteRow]:
        return super()._rows_of_batch(writes, task_id, path[: self.width])


@mistake(
    "ordering/writes-sorted",
    "a column for a dozen characters of the path: whether there is one is all that is kept",
    also=PATHS,
)
class PathsOfADozen(_CutPaths):
    width = 12


@mistake(
    "ordering/writes-sorted",
    "a column for sixteen characters of the path: the kind of task is all that is kept",
    also=PATHS,
)
class PathsOfSixteen(_CutPaths):
    width = 16


@mistake("ordering/writes-sorted", "a column for thirty-two characters of the path", also=PATHS)
class PathsOfThirtyTwo(_CutPaths):
    width = 32
