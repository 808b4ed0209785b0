"""How checkpoints, metadata and channel maps are written in columns, and read back."""

import base64
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol

Version = str | int | float
Typed = tuple[str, bytes]
Channels = dict[str, list[Any]]
"""{channel: [version, value_id]}, or [version] for a channel that has no value."""

_SERIALIZED = "__saverproof_serialized__"
_IN_COLUMNS = ("channel_values", "channel_versions")


@dataclass(frozen=True, slots=True)
class Address:
    """Which checkpoint a config names; no checkpoint_id means the latest, or no parent."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None

    @classmethod
    def of(cls, config: RunnableConfig) -> "Address":
        """Raises ValueError if the config has no thread_id."""
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

    def config(self) -> RunnableConfig:
        """The config that names this address, and nothing else."""
        return make_config(self.thread_id, self.checkpoint_ns, self.checkpoint_id)


def make_config(thread_id: str, checkpoint_ns: str, checkpoint_id: str | None) -> RunnableConfig:
    """The config of one checkpoint."""
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": checkpoint_ns,
            "checkpoint_id": checkpoint_id,
        }
    }


def is_exact_json(value: Any) -> bool:
    """Whether JSON gives `value` back equal and of the same types (a tuple counts as a list)."""
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


def encode_metadata(serde: SerializerProtocol, metadata: Mapping[str, Any]) -> str:
    """Metadata as JSON, which SQL can read; what JSON cannot hold goes through the serializer."""
    plain = {}
    for key, value in metadata.items():
        if is_exact_json(value) and not _is_marked(value):
            plain[key] = value
        else:
            kind, data = serde.dumps_typed(value)
            plain[key] = {_SERIALIZED: [kind, base64.b64encode(data).decode("ascii")]}
    return json.dumps(plain, separators=(",", ":"))


def decode_metadata(serde: SerializerProtocol, text: str) -> CheckpointMetadata:
    """What `encode_metadata` was given."""
    metadata = json.loads(text)
    if _SERIALIZED in text:
        for key, value in metadata.items():
            if _is_marked(value):
                kind, data = value[_SERIALIZED]
                metadata[key] = serde.loads_typed((kind, base64.b64decode(data)))
    return cast(CheckpointMetadata, metadata)


def _is_marked(value: Any) -> bool:
    return type(value) is dict and len(value) == 1 and _SERIALIZED in value


def encode_checkpoint(serde: SerializerProtocol, checkpoint: Checkpoint) -> Typed:
    """The checkpoint without its channels, which have columns and rows of their own."""
    fields = {key: value for key, value in checkpoint.items() if key not in _IN_COLUMNS}
    return serde.dumps_typed(fields)


def decode_checkpoint(
    serde: SerializerProtocol, stored: Typed, channels: Channels, values: Mapping[int, Typed]
) -> Checkpoint:
    """The checkpoint as it was put, every value decoded anew."""
    checkpoint = serde.loads_typed(stored)
    checkpoint["channel_versions"] = {name: entry[0] for name, entry in channels.items()}
    checkpoint["channel_values"] = {
        name: serde.loads_typed(values[entry[1]])
        for name, entry in channels.items()
        if len(entry) > 1
    }
    return cast(Checkpoint, checkpoint)


def encode_channels(channels: Channels) -> str:
    """The channel map as JSON."""
    return json.dumps(channels, separators=(",", ":"))


def decode_channels(text: str) -> Channels:
    """What `encode_channels` was given."""
    return cast(Channels, json.loads(text))


def value_ids(channels: Channels) -> Iterator[int]:
    """The rows that hold the values of these channels."""
    return (entry[1] for entry in channels.values() if len(entry) > 1)


def versions_of(checkpoint: Checkpoint) -> ChannelVersions:
    """The checkpoint's channel versions; checkpoints of old formats may lack them."""
    return checkpoint.get("channel_versions") or {}
