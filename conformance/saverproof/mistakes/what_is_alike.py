"""Savers that take one thing for another which resembles it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import ChannelVersions, Checkpoint

from saverproof.mistakes.hostile import ThreadsAs
from saverproof.mistakes.metadata import MetadataAs
from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, CheckpointRow, Shelf, Version, WriteRow
from saverproof.mistakes.registry import mistake
from saverproof.mistakes.values import SNAPSHOTS, VALUES, MangledValues

METADATA = "serialization/metadata"
HOSTILE = "isolation/hostile-identifiers"


@mistake(VALUES, "functools.cache around the serializer, for which 1, 1.0 and True are one key")
class SerializerCached(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        known: dict[Any, Blob] = self.store.extra.setdefault("serialized", {})
        return (
            known.setdefault(value, self._dump(value))
            if isinstance(value, Hashable)
            else (self._dump(value))
        )


@mistake(VALUES, "values are kept once, by json.dumps(value, default=str): a UUID and its text")
class KeptOnceByJson(ReferenceSaver):
    def _dump_value(self, value: Any) -> Blob:
        known: dict[str, Blob] = self.store.extra.setdefault("by JSON", {})
        return known.setdefault(json.dumps(value, default=str, skipkeys=True), self._dump(value))


@mistake(VALUES, "a value that equals the parent's is taken for the parent's: 0 and False")
class EqualTakenForUnchanged(ReferenceSaver):
    def _values_to_store(
        self, shelf: Shelf, row: CheckpointRow, checkpoint: Checkpoint, new: ChannelVersions
    ) -> dict[Hashable, Blob | None]:
        stored = super()._values_to_store(shelf, row, checkpoint, new)
        parent = shelf.checkpoints.get(row.parent or "")
        for channel, version in parent.versions.items() if parent else ():
            key, old = (channel, row.versions.get(channel)), shelf.values.get((channel, version))
            value = stored.get(key)
            if old and value and self._load_value(old) == self._load_value(value):
                stored[key] = old
        return stored


@mistake(VALUES, "text that is JSON comes back as what it says", also=SNAPSHOTS)
class TextReadAsJson(MangledValues):
    def changed(self, value: Any) -> Any:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:
            return value


@mistake(VALUES, "NUL bytes at the end are taken for padding", also=SNAPSHOTS)
class TrailingNulsCut(MangledValues):
    def changed(self, value: Any) -> Any:
        padded = isinstance(value, bytes) and value.endswith(b"\0")
        return value.rstrip(b"\0") if padded else value


@mistake(VALUES, "a document has no empty field names", also=SNAPSHOTS)
class EmptyKeysLeftOut(MangledValues):
    def mangled(self, value: Any) -> Any:
        whole = type(value) is not dict
        return super().mangled(value if whole else {k: v for k, v in value.items() if k != ""})


@mistake(METADATA, "CRLF becomes LF, as in files of text", also={"filter/equality"})
class LineEndsNormalized(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {
            key: value.replace("\r\n", "\n") if isinstance(value, str) else value
            for key, value in metadata.items()
        }


@mistake(METADATA, "a column for sixty-four characters of a key", also={"filter/equality"})
class MetadataKeysCut(MetadataAs):
    def _stored_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        return {key[:64]: value for key, value in metadata.items()}


@mistake("filter/equality", "a document database: a value equals the list that holds it")
class ListHoldsWhatIsAsked(ReferenceSaver):
    def _equals(self, metadata: dict[str, Any], key: str, value: Any) -> bool:
        found = metadata.get(key)
        held = isinstance(found, list) and value in found
        return held or super()._equals(metadata, key, value)


@mistake("serialization/names", "a column for sixty-four characters of a channel's name")
class ChannelsCut(ReferenceSaver):
    def _value_key(self, row: CheckpointRow, channel: str, version: Version) -> Hashable:
        return channel[:64], "" if len(channel) > 64 else version


@mistake(HOSTILE, "a column for sixty-four characters of a thread's id")
class ThreadsCut(ThreadsAs):
    def _filed_thread(self, thread: str) -> str:
        return thread[:64]


@mistake(HOSTILE, "the key is thread and namespace, joined with a dot")
class KeyJoinedWithDot(ReferenceSaver):
    def _shelf_key(self, thread: str, ns: str) -> Any:
        return f"{thread}.{ns}"


# In programs without odd names it shows as a prune that removes too much.
@mistake(
    HOSTILE,
    "prune scans keys by prefix: a prunes ab as well",
    also={"deletion/prune-latest"},
)
class PrunesByPrefix(ReferenceSaver):
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        named = {shelf.thread for shelf in self._all_shelves()}
        like = [t for t in named if any(t.startswith(thread) for thread in thread_ids)]
        super().prune(like, strategy=strategy)


@mistake(
    "pending-writes/complete",
    "what begins with __ is taken for internal, and not stored",
    also={"pending-writes/special-index"},
)
class OwnChannelsLeftOut(ReferenceSaver):
    def _rows_of_batch(
        self, writes: Sequence[tuple[str, Any]], task_id: str, path: str
    ) -> list[WriteRow]:
        rows = super()._rows_of_batch(writes, task_id, path)
        return [row for row in rows if row.index < 0 or not row.channel.startswith("__")]


@mistake("pending-writes/complete", "a page of a hundred of a checkpoint's writes is read")
class HundredWritesAtMost(ReferenceSaver):
    def _writes_of(self, shelf: Shelf, row: CheckpointRow) -> list[WriteRow]:
        return super()._writes_of(shelf, row)[:100]


@mistake("upsert/special-write-last-wins", "lists are appended to: interrupts pile up")
class InterruptsAppended(ReferenceSaver):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        known = stored.get(self._write_key(row))
        if known is not None and row.index < 0:
            old, new = self._load_write(known.value), self._load_write(row.value)
            if isinstance(old, list) and isinstance(new, list):
                row = replace(row, value=self._dump_write([*old, *new]))
        super()._store_write(stored, row)
