"""Storing checkpoints and pending writes. Everything is serialized before a lock is taken."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.codec import (
    Address,
    Channels,
    Typed,
    Version,
    decode_channels,
    encode_channels,
    encode_checkpoint,
    encode_metadata,
    value_ids,
    versions_of,
)
from saverproof_savers.queries import Queries


@dataclass(frozen=True, slots=True)
class PutRecord:
    """One checkpoint on its way into the database."""

    serde: SerializerProtocol
    parent: Address
    checkpoint_id: str
    stored: Typed
    metadata: str
    run_id: str | None
    versions: Mapping[str, Version]
    new_versions: Mapping[str, Version]
    new_values: Mapping[str, Typed]
    """The values of channels that have a new version."""
    given: Mapping[str, Any]
    """The values that the checkpoint came with, as objects."""

    @classmethod
    def of(
        cls,
        serde: SerializerProtocol,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> "PutRecord":
        """Raises what the serializer raises for a value that it cannot hold."""
        versions = versions_of(checkpoint)
        given = checkpoint.get("channel_values") or {}
        merged: Mapping[str, Any] = get_checkpoint_metadata(config, metadata)
        run_id = merged.get("run_id")
        return cls(
            serde=serde,
            parent=Address.of(config),
            checkpoint_id=checkpoint["id"],
            stored=encode_checkpoint(serde, checkpoint),
            metadata=encode_metadata(serde, merged),
            run_id=run_id if type(run_id) is str else None,
            # Copies, since the caller may change the originals while this waits for its turn.
            versions=dict(versions),
            new_versions=dict(new_versions),
            new_values={
                channel: serde.dumps_typed(given[channel])
                for channel in new_versions
                if channel in given and channel in versions
            },
            given=dict(given),
        )


def store_checkpoint(cursor: sqlite3.Cursor, queries: Queries, record: PutRecord) -> None:
    """Add or replace the checkpoint, and add those of its values that are not stored yet."""
    parent = record.parent
    scope = (parent.thread_id, parent.checkpoint_ns)
    cursor.execute(
        queries.channels_of_two, (*scope, record.checkpoint_id, parent.checkpoint_id or "")
    )
    known = {checkpoint_id: _readable(text) for checkpoint_id, text in cursor.fetchall()}
    replaced = known.get(record.checkpoint_id)
    inherited = known.get(parent.checkpoint_id) if parent.checkpoint_id else None
    channels = _place_values(cursor, queries, record, inherited or {}, replaced or {})
    cursor.execute(
        queries.add_checkpoint,
        (
            *scope,
            record.checkpoint_id,
            parent.checkpoint_id,
            *record.stored,
            encode_channels(channels),
            record.metadata,
            record.run_id,
        ),
    )
    if replaced:
        unused = sorted(set(value_ids(replaced)) - set(value_ids(channels)))
        if unused:
            cursor.execute(queries.drop_values_unless_used, (json.dumps(unused), *scope))


def _readable(text: str) -> Channels:
    try:
        channels = decode_channels(text)
        value_ids(channels)
    except (TypeError, ValueError):
        # A damaged row: reading it tells. Writing beside it, or over it, must go on.
        return {}
    return channels


def _place_values(
    cursor: sqlite3.Cursor,
    queries: Queries,
    record: PutRecord,
    inherited: Channels,
    replaced: Channels,
) -> Channels:
    """Which row holds the value of each channel; rows that are missing are added.

    A channel that is not new has the value of its parent, if that has the same version. Versions
    alone do not name a value: two forks of one checkpoint mint the same version, so values are
    found by what they are, and a checkpoint keeps the row that it was put with.
    """
    channels: Channels = {}
    for channel, version in record.versions.items():
        before = _at_version(inherited, channel, version)
        if channel in record.new_versions:
            value = record.new_values.get(channel)
            seen = before is not None or _at_version(replaced, channel, version) is not None
        elif before is not None and (len(before) > 1 or channel not in record.given):
            channels[channel] = before
            continue
        elif channel in record.given:
            value, seen = record.serde.dumps_typed(record.given[channel]), True
        else:
            channels[channel] = _at_version(replaced, channel, version) or [version]
            continue
        channels[channel] = [version]
        if value is not None:
            channels[channel].append(_row_of(cursor, queries, record, channel, value, seen))
    return channels


def _at_version(channels: Channels, channel: str, version: Version) -> list[Any] | None:
    entry = channels.get(channel)
    return entry if entry is not None and entry[0] == version else None


def _row_of(
    cursor: sqlite3.Cursor,
    queries: Queries,
    record: PutRecord,
    channel: str,
    value: Typed,
    may_exist: bool,
) -> int:
    row = (
        record.parent.thread_id,
        record.parent.checkpoint_ns,
        channel,
        record.versions[channel],
        *value,
    )
    if may_exist:
        found = cursor.execute(queries.same_value, row).fetchone()
        if found is not None:
            return int(found[0])
    cursor.execute(queries.add_value, row)
    return int(cursor.lastrowid or 0)


def encode_writes(
    serde: SerializerProtocol,
    config: RunnableConfig,
    writes: Sequence[tuple[str, Any]],
    task_id: str,
    task_path: str,
) -> list[tuple[Any, ...]]:
    """The rows of a batch. A special channel has its fixed negative index, so that it can be
    replaced and never stands in the way of a regular write."""
    address = Address.of(config)
    if address.checkpoint_id is None:
        raise ValueError(
            f"put_writes: the config of thread {address.thread_id!r} has no checkpoint_id"
        )
    scope = (address.thread_id, address.checkpoint_ns, address.checkpoint_id, task_id, task_path)
    return [
        (*scope, WRITES_IDX_MAP.get(channel, index), channel, *serde.dumps_typed(value))
        for index, (channel, value) in enumerate(writes)
    ]
