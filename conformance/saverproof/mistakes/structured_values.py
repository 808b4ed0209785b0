"""Savers that look inside values: at what they hold, how they begin, and how large they are."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Hashable, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from langgraph.types import Interrupt, Send

from saverproof.mistakes.reference.saver import ReferenceSaver
from saverproof.mistakes.reference.store import Blob, Shelf, Version, WriteRow
from saverproof.mistakes.registry import mistake
from saverproof.mistakes.values import SNAPSHOTS, VALUES, WRITES, MangledValues, MangledWrites

_EDGE = 4_096
"""Bytes at each end of a value that a fingerprint covers."""
_CHUNK = 16_384
"""Bytes of a piece in which large values are kept."""
_INLINE = 1_024
"""The most bytes of metadata that are kept in the row."""


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str, skipkeys=True))


# -- what holds other values ----------------------------------------------------------------


@mistake(WRITES, "a table of interrupts: what they ask is a column of JSON")
class InterruptsAsJson(MangledWrites):
    def changed(self, value: Any) -> Any:
        if not isinstance(value, Interrupt):
            return value
        asked = _as_json(value.value)
        return value if asked == value.value else replace(value, value=asked)


@mistake(WRITES, "a queue of tasks: the argument of a Send is JSON")
class SendsAsJson(MangledWrites):
    def changed(self, value: Any) -> Any:
        if not isinstance(value, Send):
            return value
        argument = _as_json(value.arg)
        return value if argument == value.arg else Send(value.node, argument)


# A rebuilt channel begins with the snapshot's content, which is then no snapshot any more.
@mistake(
    VALUES, "snapshots of delta channels are opened: what they hold comes back", also=SNAPSHOTS
)
class SnapshotsOpened(MangledValues):
    def changed(self, value: Any) -> Any:
        return value.value if type(value).__name__ == "_DeltaSnapshot" else value


# -- what a value looks like ----------------------------------------------------------------


class Looking(MangledValues):
    """A base saver that undoes a compression or encoding which it has not applied."""

    def undone(self, data: bytes) -> Any:
        raise NotImplementedError

    def changed(self, value: Any) -> Any:
        try:
            return self.undone(value) if type(value) is bytes else value
        except Exception:  # noqa: BLE001 - what cannot be undone was never done
            return value


@mistake(
    VALUES, "zlib.decompress of what can be, compressed or not when it was put", also=SNAPSHOTS
)
class InflatesWhatItCan(Looking):
    def undone(self, data: bytes) -> Any:
        return zlib.decompress(data)


@mistake(VALUES, "bytes that begin like gzip are unpacked", also=SNAPSHOTS)
class UnpacksGzip(Looking):
    def undone(self, data: bytes) -> Any:
        return gzip.decompress(data)


@mistake(
    VALUES,
    "bytes that begin like a pickle are an older release's, and are not read",
    also=SNAPSHOTS,
)
class PicklesNotRead(Looking):
    def undone(self, data: bytes) -> Any:
        return None if data[:2] in (b"\x80\x04", b"\x80\x05") else data


@mistake(
    VALUES, "what begins like a frame of zstd is taken for compressed, and refused", also=SNAPSHOTS
)
class ZstdRefused(Looking):
    def _dump_value(self, value: Any) -> Blob:
        if type(value) is bytes and value.startswith(b"\x28\xb5\x2f\xfd"):
            raise ValueError("zstd: corrupted block detected")
        return super()._dump_value(value)

    def undone(self, data: bytes) -> Any:
        return data


@mistake(VALUES, "a dict of a type and data is taken for an envelope, and opened", also=SNAPSHOTS)
class EnvelopesOpened(MangledValues):
    def changed(self, value: Any) -> Any:
        if type(value) is dict and value.keys() == {"type", "data"}:
            return value["data"]
        return value


@mistake(VALUES, "a dict of one key with a dollar is taken for a typed value", also=SNAPSHOTS)
class DollarsTyped(MangledValues):
    def changed(self, value: Any) -> Any:
        if type(value) is dict and len(value) == 1 and next(iter(value)) in ("$date", "$binary"):
            return next(iter(value.values()))
        return value


@mistake(WRITES, "text that is base64 is decoded, as bytes were once stored")
class Base64Decoded(MangledWrites):
    def changed(self, value: Any) -> Any:
        if type(value) is not str or not value.endswith("="):
            return value
        try:
            return base64.b64decode(value, validate=True)
        except ValueError:
            return value


# -- how large it is ------------------------------------------------------------------------


class KeptOnce(ReferenceSaver):
    """A base saver that keeps equal values once, and takes values with equal fingerprints for
    equal.
    """

    def fingerprint(self, data: bytes) -> Hashable:
        raise NotImplementedError

    def _dump_value(self, value: Any) -> Blob:
        kind, data = super()._dump_value(value)
        known: dict[Hashable, Blob] = self.store.extra.setdefault(type(self).__name__, {})
        return known.setdefault((kind, len(data), self.fingerprint(data)), (kind, data))


@mistake(VALUES, "large values are told apart by their first and last 4 kB and their length")
class ToldApartByTheEnds(KeptOnce):
    def fingerprint(self, data: bytes) -> Hashable:
        return data if len(data) <= 2 * _EDGE else sha256(data[:_EDGE] + data[-_EDGE:]).digest()


@mistake(VALUES, "large values are told apart by their first 16 kB and their length")
class ToldApartByTheHead(KeptOnce):
    def fingerprint(self, data: bytes) -> Hashable:
        return sha256(data[:_CHUNK]).digest()


@mistake(
    "upsert/special-write-last-wins",
    "special writes lie in pieces: those that a shorter one does not need are left",
    also={"upsert/special-write-last-wins-mixed"},
)
class PiecesLeftOver(ReferenceSaver):
    def _store_write(self, stored: dict[Hashable, WriteRow], row: WriteRow) -> None:
        known = stored.get(self._write_key(row))
        if known is not None and row.index < 0 and isinstance(known.value[1], bytes):
            (kind, new), (_, old) = row.value, known.value
            pieces = -(-len(new) // _CHUNK)
            if len(old) > pieces * _CHUNK:
                row = replace(row, value=(kind, new + old[pieces * _CHUNK :]))
        super()._store_write(stored, row)


@mistake(
    "upsert/put-replaces",
    "metadata over 1 kB has a column of its own, which is not cleared when it is short again",
)
class LongColumnNotCleared(ReferenceSaver):
    def _store_checkpoint(self, shelf: Shelf, row: Any) -> None:
        old = shelf.checkpoints.get(row.id)
        if old is not None and len(old.metadata[1]) > _INLINE >= len(row.metadata[1]):
            row = replace(row, metadata=old.metadata)
        super()._store_checkpoint(shelf, row)


@mistake(
    "upsert/put-replaces",
    "a small value is written to its column, and the large one before it is read from its file",
    also={"channels/unchanged-carried"},
)
class LargeFileRead(ReferenceSaver):
    def _value_key(self, row: Any, channel: str, version: Version) -> Hashable:
        return (row.id, channel)

    def _values_to_store(self, shelf: Shelf, row: Any, checkpoint: Any, new: Any) -> Any:
        stored: dict[Hashable, Blob | None] = {}
        given: Mapping[str, Any] = checkpoint["channel_values"]
        for channel in row.versions:
            key = self._value_key(row, channel, None)
            value = self._dump_value(given[channel]) if channel in given else None
            old = shelf.values.get(key)
            large = old is not None and len(old[1]) > _CHUNK
            stored[key] = old if large and value and len(value[1]) <= _CHUNK else value
        return stored
