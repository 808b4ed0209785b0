"""Hooks of the reference saver that select rows and make tuples from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.reference.storing import Storing

Blobs: TypeAlias = dict[str, Blob | None]
Material: TypeAlias = tuple[CheckpointRow, Blobs, list[WriteRow]]


class Reading(Storing):
    """The hooks of get_tuple and list."""

    def _find(self, config: RunnableConfig) -> CheckpointRow | None:
        shelf = self._shelf(self._thread_of(config), self._get_ns(config))
        asked = self._asked_id(config)
        if asked is not None:
            return self._by_id(shelf, asked)
        return self._latest(shelf) if shelf.checkpoints else None

    def _by_id(self, shelf: Shelf, id: str) -> CheckpointRow | None:
        return shelf.checkpoints.get(id)

    def _latest(self, shelf: Shelf) -> CheckpointRow | None:
        return shelf.checkpoints[max(shelf.checkpoints)]

    def _page(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> list[CheckpointRow]:
        rows = self._order(self._before(self._selected(config), before))
        return self._limited(self._filtered(rows, filter), limit)

    def _selected(self, config: RunnableConfig | None) -> list[CheckpointRow]:
        if config is None:
            return [row for shelf in self._all_shelves() for row in shelf.checkpoints.values()]
        thread, ns, id = self._thread_of(config), self._listed_ns(config), self._listed_id(config)
        return [
            row
            for shelf in self._shelves_of(thread, ns)
            for row in shelf.checkpoints.values()
            if id is None or row.id == id
        ]

    def _before(
        self, rows: list[CheckpointRow], before: RunnableConfig | None
    ) -> list[CheckpointRow]:
        bound = before["configurable"].get("checkpoint_id") if before else None
        return [row for row in rows if self._precedes(row, bound)] if bound else rows

    def _precedes(self, row: CheckpointRow, bound: str) -> bool:
        return row.id < bound

    def _order(self, rows: list[CheckpointRow]) -> list[CheckpointRow]:
        return sorted(rows, key=lambda row: row.id, reverse=True)

    def _filtered(
        self, rows: list[CheckpointRow], filter: dict[str, Any] | None
    ) -> list[CheckpointRow]:
        if not filter:
            return rows
        return [row for row in rows if self._matches(self._load_metadata(row.metadata), filter)]

    def _matches(self, metadata: dict[str, Any], filter: dict[str, Any]) -> bool:
        return all(self._equals(metadata, key, value) for key, value in filter.items())

    def _equals(self, metadata: dict[str, Any], key: str, value: Any) -> bool:
        return bool(metadata.get(key) == value)

    def _limited(self, rows: list[CheckpointRow], limit: int | None) -> list[CheckpointRow]:
        return rows if limit is None else rows[:limit]

    def _material(self, row: CheckpointRow) -> Material:
        shelf = self._shelf(row.thread, row.ns)
        return row, self._blobs(shelf, row), self._writes_of(shelf, row)

    def _blobs(self, shelf: Shelf, row: CheckpointRow) -> Blobs:
        return {
            channel: shelf.values.get(self._value_key(row, channel, version))
            for channel, version in row.versions.items()
        }

    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        return {
            channel: self._load_value(blob) for channel, blob in blobs.items() if blob is not None
        }

    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        return self._ordered_writes(shelf.writes.get(row.id, {}).values())

    def _ordered_writes(self, rows: Iterable[WriteRow]) -> list[WriteRow]:
        return sorted(rows, key=self._write_order)

    def _write_order(self, row: WriteRow) -> Any:
        return (row.path, row.task_id, row.index)

    def _tuple(self, row: CheckpointRow, blobs: Blobs, writes: list[WriteRow]) -> CheckpointTuple:
        checkpoint: Any = self._load_fields(row.checkpoint)
        checkpoint["channel_values"] = self._load_values(blobs)
        metadata: Any = self._load_metadata(row.metadata)
        return CheckpointTuple(
            self._address(row.thread, row.ns, row.id),
            checkpoint,
            metadata,
            self._parent_config(row),
            [(write.task_id, write.channel, self._load_write(write.value)) for write in writes],
        )

    def _parent_config(self, row: CheckpointRow) -> RunnableConfig | None:
        return None if row.parent is None else self._address(row.thread, row.ns, row.parent)

    def _got(self, config: RunnableConfig, found: CheckpointTuple) -> CheckpointTuple:
        return found

    def _listed(self, config: RunnableConfig | None, found: CheckpointTuple) -> CheckpointTuple:
        return found

    def _ancestors(self, shelf: Shelf, row: CheckpointRow) -> Iterator[CheckpointRow]:
        seen = {row.id}
        while row.parent in shelf.checkpoints and row.parent not in seen:
            row = shelf.checkpoints[row.parent]
            seen.add(row.id)
            yield row
