"""Convert checkpoints, metadata and channel maps to columns, and back."""

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from json.scanner import make_scanner
from typing import Any, NamedTuple, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

Version = str | int | float
Typed = tuple[str, bytes]
Channels = dict[str, list[Any]]
"""The channels of a checkpoint, each as a list. [version, value_id] names the row of a value;
[version, None, value] holds a small value itself; [version] has no value.
"""

_encode_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_quote = json.encoder.encode_basestring_ascii
# The scanner that JSONDecoder itself calls, without the search for white space around the text.
_scan_json = make_scanner(cast(Any, json.JSONDecoder()))
_IMMUTABLE = frozenset({str, int, float, bool, bytes, type(None)})
_SERIALIZED = "__saverproof_serialized__"
_SMALL = 64
"""Texts of up to so many characters are stored in the row of their checkpoint; a longer one is
stored once, in a row of its own.
"""
_IN_COLUMNS = ("channel_values", "channel_versions")


class Address(NamedTuple):
    """The checkpoint that a config names.

    Without a checkpoint_id it is the latest one, or no parent.
    """

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None

    @classmethod
    def of(cls, config: RunnableConfig) -> "Address":
        """Make an address of a config.

        Raises:
            ValueError: the config has no thread_id.
        """
        configurable = config.get("configurable") or {}
        thread_id = configurable.get("thread_id")
        if thread_id is None:
            raise ValueError(
                f"config['configurable'] has no thread_id; found the keys {sorted(configurable)}"
            )
        return cls(
            thread_id if type(thread_id) is str else str(thread_id),
            configurable.get("checkpoint_ns") or "",
            configurable.get("checkpoint_id") or None,
        )


@dataclass(slots=True)
class Values:
    """The values of channels by row: in encoded form, and as decoded objects that may be returned
    more than once.
    """

    stored: dict[int, Typed]
    constants: dict[int, Any]


def make_config(thread_id: str, checkpoint_ns: str, checkpoint_id: str | None) -> RunnableConfig:
    """Return the config of one checkpoint."""
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": checkpoint_ns,
            "checkpoint_id": checkpoint_id,
        }
    }


_PLAIN_SERIALIZERS: set[type] = {JsonPlusSerializer}


def stands_for_plain_values(serializer: type) -> None:
    """Declare that a serializer gives text, numbers, booleans and None back unchanged."""
    _PLAIN_SERIALIZERS.add(serializer)


def is_exact_json(value: Any) -> bool:
    """Return whether JSON gives ``value`` back equal and of the same types.

    A tuple counts as a list.
    """
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return True
    if kind is float:
        return math.isfinite(value)
    if kind is dict:
        return all(type(key) is str and is_exact_json(item) for key, item in value.items())
    if kind is list or kind is tuple:
        return all(map(is_exact_json, value))
    return False


def decode_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a column.

    Raises:
        ValueError: the column holds something else.
    """
    try:
        value, end = _scan_json(text, 0)
    except (StopIteration, TypeError, RecursionError) as error:
        raise ValueError(f"found no JSON text but {text!r:.60}") from error
    if end != len(text):
        raise ValueError(f"JSON text of {len(text)} characters ends after {end}")
    if type(value) is not dict:
        raise ValueError(f"found no JSON object but {text!r:.60}")
    return value


def encode_metadata(serde: SerializerProtocol, metadata: Mapping[str, Any]) -> str:
    """Convert metadata to JSON, which SQL can read.

    What JSON cannot hold goes through the serializer.
    """
    entries = [
        f"{_quote(str(key))}:{_encode_metadata_value(serde, value)}"
        for key, value in metadata.items()
    ]
    return f"{{{','.join(entries)}}}"


def _encode_metadata_value(serde: SerializerProtocol, value: Any) -> str:
    kind = type(value)
    if kind is str:
        return _quote(value)
    if kind is int:
        return str(value)
    if kind is dict and not value:
        return "{}"
    if is_exact_json(value) and not _is_marked(value):
        return _encode_json(value)
    name, data = serde.dumps_typed(value)
    return _encode_json({_SERIALIZED: [name, base64.b64encode(data).decode("ascii")]})


def decode_metadata(serde: SerializerProtocol, text: str) -> CheckpointMetadata:
    """Return the metadata that ``encode_metadata`` was given."""
    metadata = decode_object(text)
    if _SERIALIZED in text:
        for key, value in metadata.items():
            if _is_marked(value):
                kind, data = value[_SERIALIZED]
                metadata[key] = serde.loads_typed((kind, base64.b64decode(data)))
    return cast(CheckpointMetadata, metadata)


def _is_marked(value: Any) -> bool:
    return type(value) is dict and len(value) == 1 and _SERIALIZED in value


def encode_checkpoint(serde: SerializerProtocol, checkpoint: Mapping[str, Any]) -> Typed:
    """Encode a checkpoint without its channels, which have columns and rows of their own."""
    fields = {key: value for key, value in checkpoint.items() if key not in _IN_COLUMNS}
    return serde.dumps_typed(fields)


def can_stand_in_place(serde: SerializerProtocol, value: Any) -> bool:
    """Return whether a value is stored in the channel map: small, plain, and not to be encrypted.

    Only LangGraph's own serializer, and the one that prefers JSON, are known to give such values
    back unchanged. Any other serializer encodes them itself: it may encrypt them, for instance.
    """
    if type(serde) not in _PLAIN_SERIALIZERS:
        return False
    kind = type(value)
    if kind is str:
        return bool(len(value) <= _SMALL)
    if kind is int:
        return bool(-(2**63) <= value < 2**64)
    if kind is float:
        return math.isfinite(value)
    return value is None or kind is bool


def decode_checkpoint(
    serde: SerializerProtocol, stored: Typed, channels: Channels, values: "Values"
) -> Checkpoint:
    """Return the checkpoint as it was put.

    Every value that callers could change is decoded anew.
    """
    loads = serde.loads_typed
    checkpoint = loads(stored)
    versions: ChannelVersions = {}
    decoded: dict[str, Any] = {}
    constants = values.constants
    for channel, entry in channels.items():
        versions[channel] = entry[0]
        size = len(entry)
        if size == 3 and entry[1] is None:
            decoded[channel] = entry[2]
        elif size == 2:
            value_id = entry[1]
            if value_id in constants:
                decoded[channel] = constants[value_id]
                continue
            value = decoded[channel] = loads(values.stored[value_id])
            if type(value) in _IMMUTABLE:
                constants[value_id] = value
        elif size != 1 or type(entry) is not list:
            raise _no_entry(channel, entry)
    checkpoint["channel_versions"] = versions
    checkpoint["channel_values"] = decoded
    return cast(Checkpoint, checkpoint)


def encode_channels(channels: Channels) -> str:
    """Convert a channel map to JSON."""
    # The JSON is written out here: this happens at every put, and an encoder takes twice as long.
    entries = [
        f"{_quote(name)}:[{','.join(map(_encode_scalar, entry))}]"
        for name, entry in channels.items()
    ]
    return f"{{{','.join(entries)}}}"


def _encode_scalar(value: Any) -> str:
    kind = type(value)
    if kind is int:
        return str(value)
    if value is None:
        return "null"
    return _quote(value) if kind is str else _encode_json(value)


def decode_channels(text: str) -> Channels:
    """Return the channel map that ``encode_channels`` was given.

    Raises:
        ValueError: the text is something else.
    """
    channels = decode_object(text)
    for channel, entry in channels.items():
        check_entry(channel, entry)
    return channels


def check_entry(channel: str, entry: Any) -> None:
    """Raise ValueError unless this is a channel map's entry for a channel."""
    if type(entry) is list and not any(type(part) in (list, dict) for part in entry):
        if len(entry) == 1:
            return
        if len(entry) == 2 and _is_value_id(entry[1]):
            return
        if len(entry) == 3 and entry[1] is None:
            return
    raise _no_entry(channel, entry)


def _no_entry(channel: str, entry: Any) -> ValueError:
    return ValueError(f"found {entry!r:.60} for channel {channel!r:.60}, expected its version")


def _is_value_id(value: Any) -> bool:
    # SQLite can compare numbers of 63 bits.
    return type(value) is int and not value >> 63


def value_ids(channels: Channels) -> list[int]:
    """Return the rows that hold the values of these channels.

    Reading checks no more than this before it decodes, because ``check_entry`` for each channel is
    slow.

    Raises:
        ValueError: an entry names no row.
    """
    ids: list[int] = []
    try:
        for entry in channels.values():
            if len(entry) == 2:
                value_id = entry[1]
                if type(value_id) is not int or value_id >> 63:
                    raise ValueError(f"found {value_id!r:.60}, expected the number of a value")
                ids.append(value_id)
    except (TypeError, KeyError) as error:
        raise ValueError(f"found no map of channels: {error!r}") from error
    return ids


def readable_channels(text: str) -> Channels | None:
    """Return the channel map, or None if the row is damaged.

    Reading such a row reports the damage. A write beside the row, a replacement and a deletion must
    still work.
    """
    try:
        return decode_channels(text)
    except ValueError:
        return None


def versions_of(checkpoint: Checkpoint) -> ChannelVersions:
    """Return the checkpoint's channel versions; checkpoints of old formats may lack them."""
    return checkpoint.get("channel_versions") or {}
