"""A plain saver on one SQLite file, each operation one transaction.

It is the ground for the wrong savers of the fault, crash and concurrency families: those override
its `Database`, or the operations themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from saverproof.mistakes.reference.asynchronous import AsyncTwins
from saverproof.mistakes.reference.reading import Blobs, Reading
from saverproof.mistakes.reference.store import CheckpointRow, Shelf, WriteRow
from tests.reference.database import Database

CheckpointRows: TypeAlias = list[CheckpointRow]
WriteRows: TypeAlias = list[WriteRow]

COLUMNS = (
    "SELECT thread, ns, id, parent, type, checkpoint, metadata_type, metadata FROM checkpoints"
)
PLACE = "thread = ? AND ns = ? AND id = ?"
PUT = (
    "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (thread, ns, id) DO UPDATE SET parent = excluded.parent, type = excluded.type, "
    "checkpoint = excluded.checkpoint, metadata_type = excluded.metadata_type, "
    "metadata = excluded.metadata"
)
WRITE = "INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class SqliteReference(AsyncTwins, Reading):
    """The plain SQLite saver."""

    database_class: ClassVar[type[Database]] = Database

    def __init__(self, folder: Path, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.database = self.database_class(folder)
        self.is_clone = False

    @classmethod
    def at(cls, path: Path) -> Self:
        """Return a saver on the file in this folder, as a target opens it."""
        return cls(path)

    def __copy__(self) -> Self:
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        clone.is_clone = True
        return clone

    def setup(self) -> None:
        """Opening has made the tables."""

    def close(self) -> None:
        """Close the file; closing a clone leaves it open to its original."""
        if not self.is_clone:
            self.database.close()

    def get_next_version(self, current: Any, channel: None) -> Any:
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}"

    # -- base operations ------------------------------------------------------------------

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        row = self._row_of(config, checkpoint, metadata)
        with self.database.writing():
            self._insert_checkpoint(row)
        return self._put_answer(config, row)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        place = (self._thread_of(config), self._writes_ns(config), self._writes_id(config))
        rows = self._rows_of_batch(writes, task_id, task_path)
        with self.database.writing():
            self._insert_writes(place, rows)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with self.database.reading():
            row = self._find(config)
            writes = [] if row is None else self._stored_writes(row)
        return None if row is None else self._tuple(row, {}, writes)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        with self.database.reading():
            rows = self._page(config, filter, before, limit)
            found = [(row, self._stored_writes(row)) for row in rows]
        for row, writes in found:
            yield self._tuple(row, {}, writes)

    def delete_thread(self, thread_id: str) -> None:
        with self.database.writing():
            self._delete(str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        with self.database.writing():
            self._delete_runs(run_ids)

    def _delete_runs(self, run_ids: Sequence[str]) -> None:
        rows = self._rows()
        theirs = [r for r in rows if self._load_metadata(r.metadata).get("run_id") in run_ids]
        for row in self._unneeded(theirs):
            self._delete_row(row)

    def _unneeded(self, doomed: CheckpointRows) -> CheckpointRows:
        """Those of these rows that the delta channels of no other checkpoint are rebuilt from."""
        kept: set[tuple[str, str, str]] = set()
        for thread, ns in {(row.thread, row.ns) for row in doomed}:
            gone = {row.id for row in doomed if (row.thread, row.ns) == (thread, ns)}
            rows = {row.id: row for row in self._rows("thread = ? AND ns = ?", thread, ns)}
            for row in rows.values():
                said = self._load_metadata(row.metadata).get("counters_since_delta_snapshot")
                if said and row.id not in gone:
                    kept |= {(thread, ns, id) for id in self._chain_of(rows, row, {*said})}
        return [row for row in doomed if (row.thread, row.ns, row.id) not in kept]

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        if source_thread_id == target_thread_id:
            return
        with self.database.writing():
            self._copy_checkpoints(str(source_thread_id), str(target_thread_id))
            self._copy_writes(str(source_thread_id), str(target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy not in {"keep_latest", "delete"}:
            raise ValueError(f"strategy: found {strategy!r}, expected 'keep_latest' or 'delete'")
        with self.database.writing():
            for thread in thread_ids:
                if strategy == "delete":
                    self._delete(str(thread))
                else:
                    self._keep_latest(str(thread))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        with self.database.reading():
            walker: Any = _Once(self)
            return BaseCheckpointSaver.get_delta_channel_history(
                walker, config=config, channels=channels
            )

    def _row_of(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> CheckpointRow:
        return CheckpointRow(
            self._thread_of(config),
            self._put_ns(config),
            checkpoint["id"],
            self._parent_of(config),
            self._dump(checkpoint),
            self._dump_metadata(self._merged_metadata(config, metadata)),
            {},
        )

    # -- statements -----------------------------------------------------------------------

    def _insert_checkpoint(self, row: CheckpointRow) -> None:
        address = (row.thread, row.ns, row.id, row.parent)
        self.database.run(PUT, *address, *row.checkpoint, *row.metadata)

    def _insert_writes(self, place: tuple[str, str, str], rows: Sequence[WriteRow]) -> None:
        for row in rows:
            conflict = "REPLACE" if row.index < 0 else "IGNORE"
            values = (row.task_id, row.index, row.channel, *row.value, row.path)
            self.database.run(f"INSERT OR {conflict} {WRITE}", *place, *values)

    def _copy_checkpoints(self, source: str, target: str) -> None:
        self.database.run(
            "INSERT OR REPLACE INTO checkpoints SELECT ?, ns, id, parent, type, checkpoint, "
            "metadata_type, metadata FROM checkpoints WHERE thread = ?",
            *(target, source),
        )

    def _copy_writes(self, source: str, target: str) -> None:
        self.database.run(
            "INSERT OR REPLACE INTO writes SELECT ?, ns, id, task, position, channel, type, "
            "value, path FROM writes WHERE thread = ?",
            *(target, source),
        )

    def _delete(self, thread: str) -> None:
        self.database.run("DELETE FROM checkpoints WHERE thread = ?", thread)
        self.database.run("DELETE FROM writes WHERE thread = ?", thread)

    def _delete_row(self, row: CheckpointRow) -> None:
        for table in ("checkpoints", "writes"):
            self.database.run(f"DELETE FROM {table} WHERE {PLACE}", row.thread, row.ns, row.id)

    def _rows(self, where: str = "TRUE", *values: Any) -> CheckpointRows:
        found = self.database.rows(f"{COLUMNS} WHERE {where}", *values)
        return [
            CheckpointRow(thread, ns, id, parent, (kind, blob), (metadata_kind, metadata), {})
            for thread, ns, id, parent, kind, blob, metadata_kind, metadata in found
        ]

    def _stored_writes(self, row: CheckpointRow) -> WriteRows:
        found = self.database.rows(
            f"SELECT task, position, channel, type, value, path FROM writes WHERE {PLACE}",
            *(row.thread, row.ns, row.id),
        )
        return self._ordered_writes(
            WriteRow(task, position, channel, (kind, value), path)
            for task, position, channel, kind, value, path in found
        )

    def _find(self, config: RunnableConfig) -> CheckpointRow | None:
        address = (self._thread_of(config), self._get_ns(config))
        asked = self._asked_id(config)
        if asked is not None:
            rows = self._rows(PLACE, *address, asked)
        else:
            rows = self._rows("thread = ? AND ns = ? ORDER BY id DESC LIMIT 1", *address)
        return rows[0] if rows else None

    def _selected(self, config: RunnableConfig | None) -> CheckpointRows:
        if config is None:
            return self._rows()
        asked = {
            "thread": self._thread_of(config),
            "ns": self._listed_ns(config),
            "id": self._listed_id(config),
        }
        given = {column: value for column, value in asked.items() if value is not None}
        return self._rows(" AND ".join(f"{column} = ?" for column in given), *given.values())

    def _tuple(self, row: CheckpointRow, blobs: Blobs, writes: WriteRows) -> CheckpointTuple:
        checkpoint: Any = self._load(row.checkpoint)
        metadata: Any = self._load_metadata(row.metadata)
        return CheckpointTuple(
            self._address(row.thread, row.ns, row.id),
            checkpoint,
            metadata,
            self._parent_config(row),
            [(write.task_id, write.channel, self._load_write(write.value)) for write in writes],
        )

    # -- pruning --------------------------------------------------------------------------

    def _keep_latest(self, thread: str) -> None:
        for ns in {row.ns for row in self._rows("thread = ?", thread)}:
            rows = {row.id: row for row in self._rows("thread = ? AND ns = ?", thread, ns)}
            newest = rows[max(rows)]
            kept = {newest.id, *self._delta_chain(rows, newest)}
            for row in rows.values():
                if row.id not in kept:
                    self._delete_row(row)

    def _delta_chain(self, rows: dict[str, CheckpointRow], newest: CheckpointRow) -> set[str]:
        """The ancestors without which a delta channel of the newest could not be rebuilt."""
        metadata = self._load_metadata(newest.metadata)
        versioned = self._load(newest.checkpoint)["channel_versions"]
        said = metadata.get("counters_since_delta_snapshot") or {}
        empty = {channel for channel in versioned if not channel.startswith("branch:")}
        return self._chain_of(rows, newest, {*said, *empty})

    def _chain_of(
        self, rows: dict[str, CheckpointRow], row: CheckpointRow, channels: set[str]
    ) -> set[str]:
        missing = channels - set(self._load(row.checkpoint)["channel_values"])
        chain = set[str]()
        for ancestor in self._ancestors(Shelf(row.thread, row.ns, rows), row):
            if not missing:
                break
            chain.add(ancestor.id)
            missing -= set(self._load(ancestor.checkpoint)["channel_values"])
        return chain


class _Once:
    """What the base class's walk asks of a saver; where parents are a loop, it ends there."""

    def __init__(self, saver: SqliteReference) -> None:
        self._saver = saver
        self._seen: set[str] = set()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = self._saver.get_tuple(config)
        if found is None or found.checkpoint["id"] in self._seen:
            return None
        self._seen.add(found.checkpoint["id"])
        return found
