"""A saver on SQLite whose costs do not grow with what is stored: the ground for those that do."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.store import Blob, CheckpointRow, WriteRow
from tests.reference.blobs import BLOB, BlobReference, WithBlobs
from tests.reference.sqlite import CheckpointRows, SqliteReference

Place: TypeAlias = tuple[str, str]
OF_PLACE = "thread = ? AND ns = ?"
BLOBS = (
    "SELECT blobs.channel, blobs.version, blobs.type, blobs.value FROM json_each(?) AS wanted "
    "CROSS JOIN blobs ON channel = wanted.value ->> 0 AND version = wanted.value ->> 1 "
    f"WHERE {OF_PLACE}"
)
WRITES = (
    "SELECT id, task, position, channel, type, value, path FROM writes "
    f"WHERE {OF_PLACE} AND id BETWEEN ? AND ?"
)


class WithRuns(WithBlobs):
    """A database that leads from a run to its checkpoints."""

    def configure(self, connection: sqlite3.Connection) -> None:
        super().configure(connection)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS runs (run TEXT NOT NULL, thread TEXT NOT NULL, "
            "ns TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (run, thread, ns, id))"
        )


class PagedReference(BlobReference):
    """Right; a page takes three queries, whatever its length. It lists single threads alone."""

    database_class = WithRuns

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        row = self._row_of(config, {**checkpoint, "channel_values": {}}, metadata)
        blobs = {
            channel: self._dump_value(value)
            for channel, value in checkpoint["channel_values"].items()
            if channel in new_versions
        }
        self._store(row, blobs, checkpoint["channel_versions"])
        return self._put_answer(config, row)

    def _store(self, row: CheckpointRow, blobs: Mapping[str, Blob], versions: Any) -> None:
        run = self._load_metadata(row.metadata).get("run_id")
        with self.database.writing():
            self._insert_checkpoint(row)
            self._insert_blobs(row, blobs, versions)
            if run is not None:
                self.database.run(
                    "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?)",
                    *(run, row.thread, row.ns, row.id),
                )

    # -- pages ------------------------------------------------------------------------------

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
            rows = (
                self._fitting(place, bound, limit, filter)
                if filter
                else self._page_of(place, bound, limit)
            )
            writes = self._writes_of(place, rows)
        for row in rows:
            yield self._tuple(row, {}, writes[row.id])

    def _page_of(self, place: Place, bound: str, limit: int | None) -> CheckpointRows:
        number = -1 if limit is None else limit
        return self._rows(f"{OF_PLACE} AND id < ? ORDER BY id DESC LIMIT ?", *place, bound, number)

    def _fitting(
        self, place: Place, bound: str, limit: int | None, filter: dict[str, Any]
    ) -> CheckpointRows:
        """The rows whose metadata fits, of which nothing else is read."""
        found = self.database.rows(
            "SELECT id, metadata_type, metadata FROM checkpoints "
            f"WHERE {OF_PLACE} AND id < ? ORDER BY id DESC",
            *(*place, bound),
        )
        ids = [id for id, *blob in found if self._matches(self._load_metadata((*blob,)), filter)]
        return [
            row for id in ids[:limit] for row in self._rows(f"{OF_PLACE} AND id = ?", *place, id)
        ]

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
        found: dict[tuple[str, Any], Blob] = {
            (channel, version): (kind, value)
            for channel, version, kind, value in self.database.rows(
                BLOBS, json.dumps(sorted(wanted)), rows[0].thread, rows[0].ns
            )
        }
        for checkpoint in checkpoints:
            for pair in checkpoint["channel_versions"].items():
                if pair in found:
                    checkpoint["channel_values"][pair[0]] = self._load_value(found[pair])
        return [self._with(row, one) for row, one in zip(rows, checkpoints, strict=True)]

    def _with(self, row: CheckpointRow, checkpoint: Any) -> CheckpointRow:
        return replace(row, checkpoint=self._dump(checkpoint))

    # -- removing ---------------------------------------------------------------------------

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.database.writing():
            for run in run_ids:
                theirs = self.database.rows("SELECT thread, ns, id FROM runs WHERE run = ?", run)
                doomed = [CheckpointRow(*place, None, ("", b""), ("", b""), {}) for place in theirs]
                for row in self._unneeded(doomed):
                    self._delete_row(row)
                    self._drop_unused(row.thread)
                    self.database.run(
                        "DELETE FROM runs WHERE run = ? AND thread = ? AND ns = ? AND id = ?",
                        *(run, row.thread, row.ns, row.id),
                    )

    def _keep_latest(self, thread: str) -> None:
        super()._keep_latest(thread)
        self._drop_unused(thread)

    def _delete(self, thread: str) -> None:
        for row in SqliteReference._rows(self, "thread = ?", thread):
            run = self._load_metadata(row.metadata).get("run_id")
            self.database.run("DELETE FROM runs WHERE run = ? AND thread = ?", run, thread)
        super()._delete(thread)

    def _drop_unused(self, thread: str) -> None:
        """Remove the values that no checkpoint of the thread needs any more."""
        used = {
            (row.ns, *pair)
            for row in SqliteReference._rows(self, "thread = ?", thread)
            for pair in self._load(row.checkpoint)["channel_versions"].items()
        }
        for found in self.database.rows(
            "SELECT ns, channel, version FROM blobs WHERE thread = ?", thread
        ):
            if found not in used:
                self.database.run(f"DELETE FROM blobs WHERE {BLOB}", thread, *found)
