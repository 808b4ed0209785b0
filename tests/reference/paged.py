"""A saver on SQLite whose costs do not grow with what is stored: the ground for those that do."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple

from saverproof.reference.store import Blob, CheckpointRow, WriteRow
from tests.reference.blobs import BlobReference
from tests.reference.sqlite import CheckpointRows, SqliteReference

Place: TypeAlias = tuple[str, str]
BLOBS = (
    "SELECT blobs.channel, blobs.version, blobs.type, blobs.value FROM json_each(?) AS wanted "
    "CROSS JOIN blobs ON channel = wanted.value ->> 0 AND version = wanted.value ->> 1 "
    "WHERE thread = ? AND ns = ?"
)
WRITES = (
    "SELECT id, task, position, channel, type, value, path FROM writes "
    "WHERE thread = ? AND ns = ? AND id BETWEEN ? AND ?"
)


class PagedReference(BlobReference):
    """Right; a page takes three queries, whatever its length."""

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, {**checkpoint, "channel_values": {}}, metadata)
        blobs = {
            channel: self._dump_value(value)
            for channel, value in checkpoint["channel_values"].items()
            if channel in new_versions
        }
        self._store(row, blobs, checkpoint["channel_versions"])
        return self._put_answer(config, row)

    def list(
        self,
        config: Any,
        *,
        filter: dict[str, Any] | None = None,
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        place = (self._thread_of(config), self._listed_ns(config) or "")
        bound = before["configurable"]["checkpoint_id"] if before else "~"
        with self.database.reading():
            rows = self._page_of(place, bound, limit)
            writes = self._writes_of(place, rows)
        for row in rows:
            yield self._tuple(row, {}, writes[row.id])

    def _page_of(self, place: Place, bound: str, limit: int | None) -> CheckpointRows:
        number = -1 if limit is None else limit
        return self._rows(
            "thread = ? AND ns = ? AND id < ? ORDER BY id DESC LIMIT ?", *place, bound, number
        )

    def _writes_of(
        self, place: Place, rows: CheckpointRows
    ) -> defaultdict[str, Sequence[WriteRow]]:
        """The writes of a page, by checkpoint."""
        found: defaultdict[str, Any] = defaultdict(list)
        if rows:
            for id, *write in self.database.rows(WRITES, *place, rows[-1].id, rows[0].id):
                task, position, channel, kind, value, path = write
                found[id].append(WriteRow(task, position, channel, (kind, value), path))
        return found

    def _rows(self, where: str = "TRUE", *values: Any) -> CheckpointRows:
        rows = SqliteReference._rows(self, where, *values)
        return self._with_all_values(rows) if rows else rows

    def _with_all_values(self, rows: CheckpointRows) -> CheckpointRows:
        """Rows of one place with the values of their channels."""
        checkpoints: list[Any] = [self._load(row.checkpoint) for row in rows]
        wanted = {pair for one in checkpoints for pair in one["channel_versions"].items()}
        place = (rows[0].thread, rows[0].ns)
        found: dict[tuple[str, Any], Blob] = {
            (channel, version): (kind, value)
            for channel, version, kind, value in self.database.rows(
                BLOBS, json.dumps(sorted(wanted)), *place
            )
        }
        for checkpoint in checkpoints:
            for pair in checkpoint["channel_versions"].items():
                if pair in found:
                    checkpoint["channel_values"][pair[0]] = self._load_value(found[pair])
        return [self._with(row, one) for row, one in zip(rows, checkpoints, strict=True)]

    def _with(self, row: CheckpointRow, checkpoint: Any) -> CheckpointRow:
        return replace(row, checkpoint=self._dump(checkpoint))
