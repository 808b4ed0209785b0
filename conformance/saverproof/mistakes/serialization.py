"""Savers that lose fields, or that accept or refuse values which they should not."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, WriteRow
from saverproof.mistakes.registry import mistake

Batch = Sequence[tuple[str, Any]]


# -- legacy-writes-metadata, older-checkpoints ---------------------------------------------


@mistake("serialization/legacy-writes-metadata", "json.dumps(metadata): messages are not JSON")
class MetadataAsJson(ReferenceSaver):
    def _dump_metadata(self, metadata: dict[str, Any]) -> Blob:
        return ("json", json.dumps(metadata))

    def _load_metadata(self, blob: Blob) -> dict[str, Any]:
        metadata: dict[str, Any] = json.loads(blob[1])
        return metadata


@mistake(
    "serialization/legacy-writes-metadata", "metadata is checked against what the base documents"
)
class LegacyWritesRefused(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        if "writes" in metadata:
            raise ValueError("metadata: unknown key 'writes'")
        return super()._merged_metadata(config, metadata)


@mistake("serialization/older-checkpoints", "a checkpoint of another format version is refused")
class OldFormatRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        if checkpoint["v"] < 4:
            raise ValueError(f"checkpoint format {checkpoint['v']}, expected 4")
        return super()._fields(checkpoint)


@mistake("serialization/older-checkpoints", 'checkpoint["updated_channels"] of one from before it')
class UpdatedChannelsRequired(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        return {**super()._fields(checkpoint), "updated_channels": checkpoint["updated_channels"]}


@mistake("serialization/older-checkpoints", "a typed row has no place for pending_sends")
class PendingSendsRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        if checkpoint.get("pending_sends"):
            raise TypeError("__init__() got an unexpected keyword argument 'pending_sends'")
        return super()._fields(checkpoint)


@mistake("serialization/older-checkpoints", "what the base's Checkpoint names today is stored")
class PendingSendsDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        return {name: field for name, field in fields.items() if name != "pending_sends"}


# -- checkpoint-fields --------------------------------------------------------------------

FIELDS = "serialization/checkpoint-fields"


@mistake(FIELDS, "one row per node and channel seen: empty entries have none")
class EmptyVersionsSeenDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        seen = {node: dict(versions) for node, versions in fields["versions_seen"].items()}
        return {**fields, "versions_seen": {node: v for node, v in seen.items() if v}}


@mistake(FIELDS, "of what nodes have seen, the entry of the last is stored")
class OnlyTheLastHasSeen(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        seen = dict(checkpoint["versions_seen"])
        last = list(seen)[-1:]
        kept = {node: seen[node] for node in ("__input__", *last) if node in seen}
        return {**super()._fields(checkpoint), "versions_seen": kept}


@mistake("channels/history-immutable", "what nodes have seen is kept once: the newest put's")
class SeenOfTheNewestPut(ReferenceSaver):
    def _store_checkpoint(self, shelf: Any, row: Any) -> None:
        super()._store_checkpoint(shelf, row)
        self.store.extra["seen", row.thread, row.ns] = row.checkpoint

    def _tuple(self, row: Any, blobs: Any, writes: Any) -> Any:
        found = super()._tuple(row, blobs, writes)
        newest = self.store.extra.get(("seen", row.thread, row.ns), row.checkpoint)
        seen = self._load_fields(newest)["versions_seen"]
        return found._replace(checkpoint={**found.checkpoint, "versions_seen": seen})


@mistake(FIELDS, "the table is older than updated_channels")
class UpdatedChannelsDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        return {**fields, "updated_channels": None} if "updated_channels" in fields else fields


@mistake(FIELDS, "the checkpoint is built anew field by field, without updated_channels")
class UpdatedChannelsLeftOut(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        return {name: value for name, value in fields.items() if name != "updated_channels"}


@mistake(FIELDS, "the saver sets the time itself")
class TimestampRewritten(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        now = datetime.datetime.now(datetime.UTC).isoformat()
        return {**super()._fields(checkpoint), "ts": now}


@mistake(FIELDS, "a timestamp column without fractions of a second")
class TimestampCut(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        return {**super()._fields(checkpoint), "ts": checkpoint["ts"].split(".")[0]}


@mistake(FIELDS, "the format version is the base module's own constant")
class FormatRewritten(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        return {**super()._fields(checkpoint), "v": 2}


@mistake(FIELDS, "versions come back as the numbers that they begin with")
class VersionsAsNumbers(ReferenceSaver):
    def _load_fields(self, blob: Blob) -> dict[str, Any]:
        fields = super()._load_fields(blob)
        versions = fields["channel_versions"]
        numbers = {c: int(v.split(".")[0]) if type(v) is str else v for c, v in versions.items()}
        return {**fields, "channel_versions": numbers}


@mistake(FIELDS, "only versions of channels that hold a value are stored")
class VersionsOfEmptyChannelsDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        held = checkpoint["channel_values"]
        versions = {c: v for c, v in checkpoint["channel_versions"].items() if c in held}
        return {**super()._fields(checkpoint), "channel_versions": versions}


@mistake(FIELDS, "what nodes named __ have seen is taken for internal")
class PrivateNodesDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        seen = {n: v for n, v in fields["versions_seen"].items() if not n.startswith("__")}
        return {**fields, "versions_seen": seen}


# -- unserializable-is-refused ------------------------------------------------------------

REFUSED = "serialization/unserializable-is-refused"


@mistake(REFUSED, "writes are serialized one by one, between the inserts")
class FirstWritesOfABadBatchStay(ReferenceSaver):
    def put_writes(self, config: Any, writes: Batch, task_id: str, task_path: str = "") -> None:
        shelf = self._shelf_for_writing(self._thread_of(config), self._writes_ns(config))
        stored = shelf.writes.setdefault(self._writes_id(config), {})
        for at, (channel, value) in enumerate(writes):
            index = self._write_index(channel, at)
            blob = self._dump_write(value)
            self._store_write(stored, WriteRow(task_id, index, channel, blob, task_path))


@mistake(REFUSED, "the row is inserted before the values are serialized")
class RowOfABadCheckpointStays(ReferenceSaver):
    def _values_to_store(self, shelf: Shelf, row: Any, checkpoint: Any, new: Any) -> Any:
        try:
            return super()._values_to_store(shelf, row, checkpoint, new)
        except Exception:
            self._store_checkpoint(self._shelf_for_writing(row.thread, row.ns), row)
            raise


@mistake(REFUSED, "repr() of what cannot be serialized")
class UnserializableAsText(ReferenceSaver):
    def _dump(self, value: Any) -> Blob:
        try:
            return super()._dump(value)
        except Exception:  # noqa: BLE001 (the mistake itself)
            return super()._dump(repr(value))


@mistake(REFUSED, "a channel that cannot be serialized is logged and left out")
class UnserializableValueLeftOut(ReferenceSaver):
    def _dump_value(self, value: Any) -> Any:
        try:
            return super()._dump_value(value)
        except Exception:  # noqa: BLE001 (the mistake itself)
            return None


@mistake(REFUSED, "a write that cannot be serialized is logged and left out")
class UnserializableWriteLeftOut(ReferenceSaver):
    def _dump_write(self, value: Any) -> Blob:
        try:
            return super()._dump_write(value)
        except Exception:  # noqa: BLE001 (the mistake itself)
            return super()._dump_write(None)


# -- large --------------------------------------------------------------------------------


@mistake("serialization/large", "VALUES (?, ?), ... for the whole batch: too many SQL variables")
class LargeBatchRefused(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        if len(writes) * 8 > 32766:
            raise ValueError("too many SQL variables")
        return super()._rows_of_batch(writes, task_id, path)


@mistake("serialization/large", "a parameter per channel, of which there are 999")
class ManyChannelsRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        if len(checkpoint["channel_versions"]) > 999:
            raise ValueError("too many SQL variables")
        return super()._fields(checkpoint)


@mistake("serialization/large", "the depth of a checkpoint is found by recursion")
class DeepThreadRecursion(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if sum(1 for _ in self._ancestors(shelf, row)) > 900:
            raise RecursionError("maximum recursion depth exceeded")
        super()._store_checkpoint(shelf, row)
