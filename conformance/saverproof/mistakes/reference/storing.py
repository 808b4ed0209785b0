"""Hooks of the reference saver that turn arguments into rows, and store them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata

from saverproof.mistakes.reference.addresses import Addresses
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, Version, WriteRow

SPECIAL_INDEXES = {"__error__": -1, "__scheduled__": -2, "__interrupt__": -3, "__resume__": -4}
UNMERGED_KEYS = {
    "thread_id",
    "checkpoint_id",
    "checkpoint_ns",
    "checkpoint_map",
    "langgraph_step",
    "langgraph_node",
    "langgraph_triggers",
    "langgraph_path",
    "langgraph_checkpoint_ns",
}


class Storing(Addresses):
    """The hooks of put and put_writes."""

    def _merged_metadata(
        self, config: RunnableConfig, metadata: CheckpointMetadata
    ) -> dict[str, Any]:
        merged = {
            key: value.replace("\0", "") if isinstance(value, str) else value
            for key, value in metadata.items()
        }
        for key, value in self._config_entries(config):
            if key in merged or key in UNMERGED_KEYS or key.startswith("__"):
                continue
            if isinstance(value, str):
                merged[key] = value.replace("\0", "")
            elif isinstance(value, (int, float)):
                merged[key] = value
        return merged

    def _config_entries(self, config: RunnableConfig) -> Iterator[tuple[str, Any]]:
        for part in (config.get("metadata"), config.get("configurable")):
            yield from (part or {}).items()

    def _fields(self, checkpoint: Checkpoint) -> dict[str, Any]:
        return {key: value for key, value in checkpoint.items() if key != "channel_values"}

    def _dump(self, value: Any) -> Blob:
        return self.serde.dumps_typed(value)

    def _load(self, blob: Blob) -> Any:
        return self.serde.loads_typed(blob)

    def _dump_fields(self, fields: dict[str, Any]) -> Blob:
        return self._dump(fields)

    def _load_fields(self, blob: Blob) -> dict[str, Any]:
        fields: dict[str, Any] = self._load(blob)
        return fields

    def _dump_metadata(self, metadata: dict[str, Any]) -> Blob:
        return self._dump(metadata)

    def _load_metadata(self, blob: Blob) -> dict[str, Any]:
        metadata: dict[str, Any] = self._load(blob)
        return metadata

    def _dump_value(self, value: Any) -> Blob:
        return self._dump(value)

    def _load_value(self, blob: Blob) -> Any:
        return self._load(blob)

    def _dump_write(self, value: Any) -> Blob:
        return self._dump(value)

    def _load_write(self, blob: Blob) -> Any:
        return self._load(blob)

    def _value_key(self, row: CheckpointRow, channel: str, version: Version) -> Hashable:
        return (channel, version)

    def _values_to_store(
        self,
        shelf: Shelf,
        row: CheckpointRow,
        checkpoint: Checkpoint,
        new_versions: ChannelVersions,
    ) -> dict[Hashable, Blob | None]:
        given = checkpoint["channel_values"]
        stored: dict[Hashable, Blob | None] = {}
        for channel, version in row.versions.items():
            key = self._value_key(row, channel, version)
            if channel in new_versions:
                stored[key] = self._dump_value(given[channel]) if channel in given else None
            elif channel in given and shelf.values.get(key) is None:
                stored[key] = self._dump_value(given[channel])
        return stored

    def _store_values(self, shelf: Shelf, values: dict[Hashable, Blob | None]) -> None:
        shelf.values.update(values)

    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        shelf.checkpoints[row.id] = row

    def _put_answer(self, config: RunnableConfig, row: CheckpointRow) -> RunnableConfig:
        return self._address(row.thread, row.ns, row.id)

    def _write_index(self, channel: str, position: int) -> int:
        return SPECIAL_INDEXES.get(channel, position)

    def _rows_of_batch(
        self, writes: Sequence[tuple[str, Any]], task_id: str, path: str
    ) -> list[WriteRow]:
        return [
            WriteRow(
                task_id,
                self._write_index(channel, position),
                channel,
                self._dump_write(value),
                path,
            )
            for position, (channel, value) in enumerate(writes)
        ]

    def _write_key(self, row: WriteRow) -> Hashable:
        return (row.task_id, row.index)

    def _store_batch(self, shelf: Shelf, checkpoint_id: str, rows: list[WriteRow]) -> None:
        if rows:
            stored = shelf.writes.setdefault(checkpoint_id, {})
            for row in rows:
                self._store_write(stored, row)

    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        key = self._write_key(row)
        if self._replaces(row) or key not in stored:
            stored[key] = row

    def _replaces(self, row: WriteRow) -> bool:
        return row.index < 0
