"""Savers that share objects with their callers, or change those of their callers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from saverproof.mistakes.reference.reading import Blobs
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, WriteRow
from saverproof.mistakes.registry import mistake

# -- inputs-untouched ---------------------------------------------------------------------


@mistake(
    "identity/inputs-untouched", 'checkpoint.pop("channel_values") of the caller\'s checkpoint'
)
class PopsChannelValues(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        checkpoint.pop("channel_values")
        return answer


@mistake("identity/inputs-untouched", "metadata.update(config['metadata'])")
class UpdatesMetadata(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        metadata.update(self._merged_metadata(config, metadata))
        return super().put(config, checkpoint, metadata, new_versions)


@mistake("identity/inputs-untouched", "the caller's config is made the answer of put")
class PutChangesConfig(ReferenceSaver):
    def _put_answer(self, config: Any, row: CheckpointRow) -> Any:
        config["configurable"]["checkpoint_id"] = row.id
        return super()._put_answer(config, row)


@mistake("identity/inputs-untouched", 'setdefault("checkpoint_ns", "") on the caller\'s config')
class GetFillsInTheNamespace(ReferenceSaver):
    def _get_ns(self, config: Any) -> str:
        return str(config["configurable"].setdefault("checkpoint_ns", ""))


@mistake("identity/inputs-untouched", "get_tuple notes the id that it found in the caller's config")
class GetFillsInTheId(ReferenceSaver):
    def _got(self, config: Any, found: CheckpointTuple) -> CheckpointTuple:
        config["configurable"]["checkpoint_id"] = found.config["configurable"]["checkpoint_id"]
        return found


@mistake("identity/inputs-untouched", "the batch is emptied as it is stored")
class EmptiesTheBatch(ReferenceSaver):
    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        super().put_writes(config, list(writes), task_id, task_path)
        if isinstance(writes, list):
            writes.clear()


@mistake("identity/inputs-untouched", "removes what it cannot store from the caller's configurable")
class DropsPrivateConfigKeys(ReferenceSaver):
    def _thread_of(self, config: Any) -> str:
        for key in [key for key in config["configurable"] if key.startswith("__")]:
            del config["configurable"][key]
        return super()._thread_of(config)


@mistake("identity/inputs-untouched", "empty entries are taken out of the caller's versions_seen")
class TrimsVersionsSeen(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        fields["versions_seen"] = {k: dict(v) for k, v in fields["versions_seen"].items()}
        for channel in [
            c for c in checkpoint["versions_seen"] if not checkpoint["versions_seen"][c]
        ]:
            del checkpoint["versions_seen"][channel]
        return fields


# -- snapshots ----------------------------------------------------------------------------


@mistake("identity/snapshots", "values are kept as they are: memory needs no serializer")
class ValuesAliased(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        self._dump(value)
        return ("object", value)

    def _load_value(self, blob: Blob) -> Any:
        return blob[1]


@mistake("identity/snapshots", "copy() where deepcopy() was needed")
class ValuesCopiedShallowly(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        self._dump(value)
        return ("object", value.copy() if type(value) in {dict, list, set} else value)

    def _load_value(self, blob: Blob) -> Any:
        return blob[1].copy() if type(blob[1]) in {dict, list, set} else blob[1]


@mistake("identity/snapshots", "writes are kept as they are")
class WritesAliased(ReferenceSaver):
    def _dump_write(self, value: Any) -> Blob:
        self._dump(value)
        return ("error", repr(value)) if isinstance(value, BaseException) else ("object", value)

    def _load_write(self, blob: Blob) -> Any:
        return blob[1]


@mistake("identity/snapshots", "the metadata is kept as it is")
class MetadataAliased(ReferenceSaver):
    def _dump_metadata(self, metadata: dict[str, Any]) -> Blob:
        self._dump(metadata)
        return ("object", metadata)

    def _load_metadata(self, blob: Blob) -> dict[str, Any]:
        return dict(blob[1])


@mistake("identity/snapshots", "the checkpoint's fields are kept as they are")
class FieldsAliased(ReferenceSaver):
    def _dump_fields(self, fields: dict[str, Any]) -> Blob:
        self._dump(fields)
        return ("object", fields)

    def _load_fields(self, blob: Blob) -> dict[str, Any]:
        return dict(blob[1])


@mistake("identity/snapshots", "a cache hands the same decoded values to every reader")
class DecodedValuesCached(ReferenceSaver):
    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        cache: dict[Hashable, Any] = self.__dict__.setdefault("decoded", {})
        for blob in blobs.values():
            if blob is not None and blob not in cache:
                cache[blob] = self._load_value(blob)
        return {channel: cache[blob] for channel, blob in blobs.items() if blob is not None}


@mistake("identity/snapshots", "the last tuple is kept, and handed out until something is put")
class LastTupleCached(ReferenceSaver):
    def _tuple(self, row: CheckpointRow, blobs: Blobs, writes: list[WriteRow]) -> CheckpointTuple:
        key = (id(row), tuple(map(id, writes)))
        kept = self.__dict__.get("last")
        if kept is None or kept[0] != key:
            kept = (key, row, list(writes), super()._tuple(row, blobs, writes))
            self.__dict__["last"] = kept
        found: CheckpointTuple = kept[3]
        return found


@mistake("identity/snapshots", "the configs of what was read are kept, and handed out again")
class ConfigsCached(ReferenceSaver):
    def _tuple(self, row: CheckpointRow, blobs: Blobs, writes: list[WriteRow]) -> CheckpointTuple:
        found = super()._tuple(row, blobs, writes)
        cache: dict[Hashable, Any] = self.__dict__.setdefault("configs", {})
        key = (row.thread, row.ns, row.id, row.parent)
        config, parent = cache.setdefault(key, (found.config, found.parent_config))
        if not config:
            config = found.config
        return found._replace(config=config, parent_config=parent)


@mistake("identity/snapshots", "what was put last is handed out as it was given")
class LastPutHandedOut(ReferenceSaver):
    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        answer = super().put(config, checkpoint, metadata, new_versions)
        self.__dict__["given"] = (answer["configurable"], checkpoint)
        return answer

    def _tuple(self, row: CheckpointRow, blobs: Blobs, writes: list[WriteRow]) -> CheckpointTuple:
        found = super()._tuple(row, blobs, writes)
        given = self.__dict__.get("given")
        if given is None or given[0] != found.config["configurable"]:
            return found
        return found._replace(checkpoint=given[1])
