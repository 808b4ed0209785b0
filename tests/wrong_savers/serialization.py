"""Savers that lose or refuse names, metadata, fields, or what they should accept."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from tests.reference.reading import Blobs
from tests.reference.saver import ReferenceSaver
from tests.reference.store import Blob, CheckpointRow, Shelf, WriteRow
from tests.reference.storing import UNMERGED_KEYS
from tests.wrong_savers.registry import wrong

Batch = Sequence[tuple[str, Any]]


# -- names --------------------------------------------------------------------------------


class ChannelsAs(ReferenceSaver):
    """Gives channels back under the name that `_named` makes of theirs."""

    def _named(self, channel: str) -> str:
        return channel

    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        return {self._named(c): value for c, value in super()._load_values(blobs).items()}

    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return [replace(row, channel=self._named(row.channel)) for row in rows]


@wrong("serialization/names", "a dot in a document's key makes a nested document")
class DottedChannelsNested(ReferenceSaver):
    def _load_values(self, blobs: Blobs) -> dict[str, Any]:
        nested: dict[str, Any] = {}
        for channel, value in super()._load_values(blobs).items():
            head, dot, tail = channel.partition(".")
            nested[head or channel] = {tail: value} if dot and tail else value
        return nested


@wrong("serialization/names", "blanks in a key become underscores")
class BlanksInNames(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.replace(" ", "_")


@wrong("serialization/names", "a backslash in a JSON path escapes what follows")
class BackslashesInNames(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.replace("\\", "")


@wrong("serialization/names", "quotes are doubled, and stay doubled")
class QuotesInNames(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.replace("'", "''").replace('"', '""')


@wrong("serialization/names", "a column of ASCII")
class NamesInAscii(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.encode("ascii", "replace").decode()


@wrong("serialization/names", "column names have no case")
class NamesWithoutCase(ChannelsAs):
    def _named(self, channel: str) -> str:
        return channel.lower()


@wrong("serialization/names", "names are checked against what a Python name may hold")
class OddNamesRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        for channel in checkpoint["channel_versions"]:
            if not re.fullmatch(r"[\w:.-]+", channel, re.ASCII):
                raise ValueError(f"invalid channel name {channel!r}")
        return super()._fields(checkpoint)


@wrong("serialization/names", "a key of channel and version, joined by a dot, and split again")
class ValueKeySplit(ReferenceSaver):
    def _value_key(self, row: CheckpointRow, channel: str, version: Any) -> Hashable:
        return f"{channel}.{version}".split(".")[0], str(version)


@wrong("serialization/names", "the channel of a write ends at its first colon")
class WriteChannelsCut(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return [replace(row, channel=row.channel.split(":")[0]) for row in rows]


@wrong("serialization/names", "task paths are checked for what a file path may hold")
class OddPathsRefused(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        if not re.fullmatch(r"[\w~, :|.-]*", path, re.ASCII):
            raise ValueError(f"invalid task path {path!r}")
        return super()._rows_of_batch(writes, task_id, path)


# -- metadata -----------------------------------------------------------------------------

# What is not stored as given cannot be filtered by what was given.
FILTERS = {"filter/equality", "filter/none", "filter/nested", "filter/dotted-key"}


class MetadataAs(ReferenceSaver):
    """Stores the metadata that `_stored_metadata` makes of the given."""

    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return metadata

    def _dump_metadata(self, metadata: dict[str, Any]) -> Blob:
        return super()._dump_metadata(self._stored_metadata(metadata))


@wrong("serialization/metadata", "a column for each key that the base class names", also=FILTERS)
class KnownMetadataOnly(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        known = {"source", "step", "parents", "run_id", "counters_since_delta_snapshot"}
        return {key: value for key, value in metadata.items() if key in known}


@wrong("serialization/metadata", "a hash of text values: numbers come back as text", also=FILTERS)
class MetadataAsText(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        numbers = (int, float)
        return {k: str(v) if isinstance(v, numbers) else v for k, v in metadata.items()}


@wrong("serialization/metadata", "exclude_none=True")
class NoneMetadataDropped(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in metadata.items() if value is not None}


@wrong("serialization/metadata", "`if value` drops step 0 and empty parents", also=FILTERS)
class FalsyMetadataDropped(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in metadata.items() if value or value is None}


@wrong("serialization/metadata", "nested dicts are flattened for the index", also=FILTERS)
class NestedMetadataFlattened(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        for key, value in metadata.items():
            nested = value if isinstance(value, dict) and value else None
            flat |= {f"{key}.{k}": v for k, v in nested.items()} if nested else {key: value}
        return flat


@wrong("serialization/metadata", "numbers are doubles: large integers are rounded", also=FILTERS)
class MetadataIntegersRounded(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        def rounded(value: Any) -> Any:
            return int(float(value)) if type(value) is int and abs(value) > 2**53 else value

        return {key: rounded(value) for key, value in metadata.items()}


@wrong("serialization/metadata", 'encode("ascii", "ignore")', also=FILTERS)
class MetadataInAscii(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(metadata, ensure_ascii=False, default=str)
        kept: dict[str, Any] = json.loads(text.encode("ascii", "ignore"))
        return kept


@wrong("serialization/metadata", "keys are lower-cased for the index", also=FILTERS)
class MetadataKeysWithoutCase(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key.lower(): value for key, value in metadata.items()}


# -- config-metadata-merged ---------------------------------------------------------------


class Entries(ReferenceSaver):
    """Merges those entries of the config that `_joins` names."""

    def _joins(self, key: str, value: Any) -> bool:
        return True

    def _config_entries(self, config: Any) -> Any:
        entries = super()._config_entries(config)
        return ((key, value) for key, value in entries if self._joins(key, value))


MERGED = "serialization/config-metadata-merged"


@wrong(MERGED, "put stores the metadata that it is given, and nothing else")
class ConfigNotMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return False


@wrong(MERGED, "the configurable is taken for addresses alone")
class ConfigurableNotMerged(ReferenceSaver):
    def _config_entries(self, config: Any) -> Any:
        return (config.get("metadata") or {}).items()


@wrong(MERGED, "config['metadata'] is taken for tracing alone")
class ConfigMetadataNotMerged(ReferenceSaver):
    def _config_entries(self, config: Any) -> Any:
        return config["configurable"].items()


@wrong(MERGED, "{**metadata, **config['metadata']}", also={"serialization/metadata", *FILTERS})
class ConfigOverridesMetadata(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        merged = super()._merged_metadata(config, {})
        return {**super()._merged_metadata(config, metadata), **merged}


@wrong(MERGED, "only text joins")
class OnlyTextMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return isinstance(value, str)


@wrong(MERGED, "type(value) in (str, int): booleans and floats do not join")
class BooleansNotMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return type(value) in {str, int}


@wrong(MERGED, "falsy entries do not join")
class FalsyEntriesNotMerged(Entries):
    def _joins(self, key: str, value: Any) -> bool:
        return bool(value)


@wrong(MERGED, "no list of excluded keys: thread_id and its like join")
class ExcludedKeysMerged(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        entries = dict(self._config_entries(config))
        excluded = {k: v for k, v in entries.items() if k in UNMERGED_KEYS and type(v) is str}
        return {**excluded, **super()._merged_metadata(config, metadata)}


@wrong(MERGED, "keys that start with __ join")
class PrivateKeysMerged(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        plain = (str, int, float)
        entries = dict(self._config_entries(config))
        private = {k: v for k, v in entries.items() if k.startswith("__") and isinstance(v, plain)}
        return {**private, **super()._merged_metadata(config, metadata)}


# -- legacy-writes-metadata, older-checkpoints ---------------------------------------------


@wrong("serialization/legacy-writes-metadata", "json.dumps(metadata): messages are not JSON")
class MetadataAsJson(ReferenceSaver):
    def _dump_metadata(self, metadata: dict[str, Any]) -> Blob:
        return ("json", json.dumps(metadata))

    def _load_metadata(self, blob: Blob) -> dict[str, Any]:
        metadata: dict[str, Any] = json.loads(blob[1])
        return metadata


@wrong(
    "serialization/legacy-writes-metadata", "metadata is checked against what the base documents"
)
class LegacyWritesRefused(ReferenceSaver):
    def _merged_metadata(self, config: Any, metadata: Any) -> dict[str, Any]:
        if "writes" in metadata:
            raise ValueError("metadata: unknown key 'writes'")
        return super()._merged_metadata(config, metadata)


@wrong("serialization/older-checkpoints", "a checkpoint of another format version is refused")
class OldFormatRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        if checkpoint["v"] < 4:
            raise ValueError(f"checkpoint format {checkpoint['v']}, expected 4")
        return super()._fields(checkpoint)


@wrong("serialization/older-checkpoints", 'checkpoint["updated_channels"] of one from before it')
class UpdatedChannelsRequired(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        return {**super()._fields(checkpoint), "updated_channels": checkpoint["updated_channels"]}


@wrong("serialization/older-checkpoints", "a typed row has no place for pending_sends")
class PendingSendsRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        if checkpoint.get("pending_sends"):
            raise TypeError("__init__() got an unexpected keyword argument 'pending_sends'")
        return super()._fields(checkpoint)


# -- checkpoint-fields --------------------------------------------------------------------

FIELDS = "serialization/checkpoint-fields"


@wrong(FIELDS, "one row per node and channel seen: empty entries have none")
class EmptyVersionsSeenDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        seen = {node: dict(versions) for node, versions in fields["versions_seen"].items()}
        return {**fields, "versions_seen": {node: v for node, v in seen.items() if v}}


@wrong(FIELDS, "the table is older than updated_channels")
class UpdatedChannelsDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        return {**fields, "updated_channels": None} if "updated_channels" in fields else fields


@wrong(FIELDS, "the saver sets the time itself")
class TimestampRewritten(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        now = datetime.datetime.now(datetime.UTC).isoformat()
        return {**super()._fields(checkpoint), "ts": now}


@wrong(FIELDS, "a timestamp column without fractions of a second")
class TimestampCut(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        return {**super()._fields(checkpoint), "ts": checkpoint["ts"].split(".")[0]}


@wrong(FIELDS, "the format version is the base module's own constant")
class FormatRewritten(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        return {**super()._fields(checkpoint), "v": 2}


@wrong(FIELDS, "versions come back as the numbers that they begin with")
class VersionsAsNumbers(ReferenceSaver):
    def _load_fields(self, blob: Blob) -> dict[str, Any]:
        fields = super()._load_fields(blob)
        versions = fields["channel_versions"]
        numbers = {c: int(v.split(".")[0]) if type(v) is str else v for c, v in versions.items()}
        return {**fields, "channel_versions": numbers}


@wrong(FIELDS, "only versions of channels that hold a value are stored")
class VersionsOfEmptyChannelsDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        held = checkpoint["channel_values"]
        versions = {c: v for c, v in checkpoint["channel_versions"].items() if c in held}
        return {**super()._fields(checkpoint), "channel_versions": versions}


@wrong(FIELDS, "what nodes named __ have seen is taken for internal")
class PrivateNodesDropped(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        fields = super()._fields(checkpoint)
        seen = {n: v for n, v in fields["versions_seen"].items() if not n.startswith("__")}
        return {**fields, "versions_seen": seen}


# -- unserializable-is-refused ------------------------------------------------------------

REFUSED = "serialization/unserializable-is-refused"


@wrong(REFUSED, "writes are serialized one by one, between the inserts")
class FirstWritesOfABadBatchStay(ReferenceSaver):
    def put_writes(self, config: Any, writes: Batch, task_id: str, task_path: str = "") -> None:
        shelf = self._shelf_for_writing(self._thread_of(config), self._writes_ns(config))
        stored = shelf.writes.setdefault(self._writes_id(config), {})
        for at, (channel, value) in enumerate(writes):
            index = self._write_index(channel, at)
            blob = self._dump_write(value)
            self._store_write(stored, WriteRow(task_id, index, channel, blob, task_path))


@wrong(REFUSED, "the row is inserted before the values are serialized")
class RowOfABadCheckpointStays(ReferenceSaver):
    def _values_to_store(self, shelf: Shelf, row: Any, checkpoint: Any, new: Any) -> Any:
        try:
            return super()._values_to_store(shelf, row, checkpoint, new)
        except Exception:
            self._store_checkpoint(self._shelf_for_writing(row.thread, row.ns), row)
            raise


@wrong(REFUSED, "repr() of what cannot be serialized")
class UnserializableAsText(ReferenceSaver):
    def _dump(self, value: Any) -> Blob:
        try:
            return super()._dump(value)
        except Exception:  # noqa: BLE001 (the mistake itself)
            return super()._dump(repr(value))


@wrong(REFUSED, "a channel that cannot be serialized is logged and left out")
class UnserializableValueLeftOut(ReferenceSaver):
    def _dump_value(self, value: Any) -> Any:
        try:
            return super()._dump_value(value)
        except Exception:  # noqa: BLE001 (the mistake itself)
            return None


@wrong(REFUSED, "a write that cannot be serialized is logged and left out")
class UnserializableWriteLeftOut(ReferenceSaver):
    def _dump_write(self, value: Any) -> Blob:
        try:
            return super()._dump_write(value)
        except Exception:  # noqa: BLE001 (the mistake itself)
            return super()._dump_write(None)


# -- large --------------------------------------------------------------------------------


@wrong("serialization/large", "VALUES (?, ?), ... for the whole batch: too many SQL variables")
class LargeBatchRefused(ReferenceSaver):
    def _rows_of_batch(self, writes: Batch, task_id: str, path: str) -> list[WriteRow]:
        if len(writes) * 8 > 32766:
            raise ValueError("too many SQL variables")
        return super()._rows_of_batch(writes, task_id, path)


@wrong("serialization/large", "a parameter per channel, of which there are 999")
class ManyChannelsRefused(ReferenceSaver):
    def _fields(self, checkpoint: Any) -> dict[str, Any]:
        if len(checkpoint["channel_versions"]) > 999:
            raise ValueError("too many SQL variables")
        return super()._fields(checkpoint)


@wrong("serialization/large", "the search engine gives at most 1,000 rows")
class LongThreadListedInPart(ReferenceSaver):
    def _limited(self, rows: list[CheckpointRow], limit: int | None) -> list[CheckpointRow]:
        return super()._limited(rows, limit)[:1000]


@wrong("serialization/large", "the depth of a checkpoint is found by recursion")
class DeepThreadRecursion(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: CheckpointRow) -> None:
        if sum(1 for _ in self._ancestors(shelf, row)) > 900:
            raise RecursionError("maximum recursion depth exceeded")
        super()._store_checkpoint(shelf, row)
