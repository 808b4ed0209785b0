"""Store checkpoints and pending writes. Everything is serialized before a lock is taken."""

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
    can_stand_in_place,
    encode_channels,
    encode_checkpoint,
    encode_metadata,
    readable_channels,
    value_ids,
    versions_of,
)
from saverproof_savers.queries import Queries
from saverproof_savers.recent import RecentCheckpoints, StoredChannels
from saverproof_savers.removing import drop_orphans


@dataclass(slots=True)
class PutRecord:
    """A checkpoint on its way into the database."""

    serde: SerializerProtocol
    parent: Address
    checkpoint_id: str
    stored: Typed
    metadata: str
    run_id: str | None
    versions: Mapping[str, Version]
    new_versions: Mapping[str, Version]
    new_values: Mapping[str, Typed]
    """The values of channels that have a new version, apart from those in ``in_place``."""
    in_place: Mapping[str, Any]
    """The values that are small enough for the channel map."""
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
        """Make a record of the arguments of ``put``.

        An exception of the serializer, for a value that it cannot hold, is passed on.
        """
        versions = versions_of(checkpoint)
        given = checkpoint.get("channel_values") or {}
        merged: Mapping[str, Any] = get_checkpoint_metadata(config, metadata)
        run_id = merged.get("run_id")
        new = {name: given[name] for name in new_versions if name in given and name in versions}
        new_values, in_place = encode_values(serde, new)
        return cls(
            serde=serde,
            parent=Address.of(config),
            checkpoint_id=checkpoint["id"],
            stored=encode_checkpoint(serde, checkpoint),
            metadata=encode_metadata(serde, merged),
            run_id=run_id if type(run_id) is str else None,
            # Copies: the caller may change the originals while this waits for its turn.
            versions=dict(versions),
            new_versions=dict(new_versions),
            new_values=new_values,
            in_place=in_place,
            given=dict(given),
        )


def encode_values(
    serde: SerializerProtocol, values: Mapping[str, Any]
) -> tuple[dict[str, Typed], dict[str, Any]]:
    """Return the values that get rows, encoded, and those that stand in the channel map."""
    in_rows: dict[str, Typed] = {}
    in_place: dict[str, Any] = {}
    for channel, value in values.items():
        if can_stand_in_place(serde, value):
            in_place[channel] = value
        else:
            in_rows[channel] = serde.dumps_typed(value)
    return in_rows, in_place


def store_checkpoint(
    cursor: sqlite3.Cursor, queries: Queries, record: PutRecord, recent: RecentCheckpoints
) -> None:
    """Add or replace the checkpoint, and add those of its values that are not stored yet."""
    scope = (record.parent.thread_id, record.parent.checkpoint_ns)
    stored = _store_below_recent(cursor, queries, record, recent.get(scope))
    recent.remember(scope, stored or _store_anywhere(cursor, queries, record))


def _store_below_recent(
    cursor: sqlite3.Cursor, queries: Queries, record: PutRecord, parent: StoredChannels | None
) -> StoredChannels | None:
    """Store a new child of the checkpoint that was put last, if that one is unchanged.

    In any other case store nothing and return None.
    """
    if parent is None or parent.checkpoint_id != record.parent.checkpoint_id:
        return None
    channels: Channels = {}
    for channel, version in record.versions.items():
        before = _at_version(parent.channels, channel, version)
        if channel in record.new_versions and before is None:
            channels[channel] = [version]
            if channel in record.in_place:
                channels[channel] += (None, record.in_place[channel])
        elif (
            before is None
            or channel in record.new_versions
            or (len(before) == 1 and channel in record.given)
        ):
            return None
        else:
            channels[channel] = before
    # Apart from the INSERT, for which SQLite would first copy the row aside.
    found = cursor.execute(queries.channels_of_one, (*record.parent[:2], parent.checkpoint_id))
    if found.fetchone() != (parent.text,):
        return None
    for channel, value in record.new_values.items():
        channels[channel].append(_add_value(cursor, queries, record, channel, value))
    stored = StoredChannels(record.checkpoint_id, encode_channels(channels), channels)
    cursor.execute(queries.add_new_checkpoint, _row(record, stored))
    if cursor.rowcount == 1:
        return stored
    ids = [channels[channel][1] for channel in record.new_values]
    cursor.execute(queries.drop_values, (json.dumps(ids), record.parent.thread_id))
    return None


def _store_anywhere(cursor: sqlite3.Cursor, queries: Queries, record: PutRecord) -> StoredChannels:
    parent = record.parent
    scope = (parent.thread_id, parent.checkpoint_ns)
    cursor.execute(
        queries.channels_of_two, (*scope, record.checkpoint_id, parent.checkpoint_id or "")
    )
    known = {checkpoint_id: readable_channels(text) for checkpoint_id, text in cursor.fetchall()}
    replaced = known.get(record.checkpoint_id)
    inherited = known.get(parent.checkpoint_id) if parent.checkpoint_id else None
    channels = _place_values(cursor, queries, record, inherited or {}, replaced or {})
    stored = StoredChannels(record.checkpoint_id, encode_channels(channels), channels)
    cursor.execute(queries.add_checkpoint, _row(record, stored))
    if replaced is not None:
        unused = sorted(set(value_ids(replaced)) - set(value_ids(channels)))
        if unused:
            cursor.execute(
                queries.drop_values_unless_used, (json.dumps(unused), scope[0], scope[0])
            )
    elif record.checkpoint_id in known:
        drop_orphans(cursor, queries, scope[0])
    return stored


def _row(record: PutRecord, stored: StoredChannels) -> tuple[Any, ...]:
    return (
        *record.parent[:2],
        record.checkpoint_id,
        record.parent.checkpoint_id,
        *record.stored,
        stored.text,
        record.metadata,
        record.run_id,
    )


def _place_values(
    cursor: sqlite3.Cursor,
    queries: Queries,
    record: PutRecord,
    inherited: Channels,
    replaced: Channels,
) -> Channels:
    """Return the row that holds the value of each channel; missing rows are added.

    A channel without a new version has the value of its parent, if the parent has the same version.
    A version alone does not identify a value, since two forks of one checkpoint make the same
    version. So values are found by their content, and a checkpoint keeps the row that it was put
    with.
    """
    channels: Channels = {}
    related = [inherited, replaced]
    for channel, version in record.versions.items():
        before = _at_version(inherited, channel, version)
        if channel in record.in_place:
            channels[channel] = [version, None, record.in_place[channel]]
            continue
        if channel in record.new_versions:
            value = record.new_values.get(channel)
        elif before is not None and (len(before) > 1 or channel not in record.given):
            channels[channel] = before
            continue
        elif channel in record.given:
            # This is a copy of another checkpoint, or a child that came before its parent.
            if can_stand_in_place(record.serde, record.given[channel]):
                channels[channel] = [version, None, record.given[channel]]
                continue
            value = record.serde.dumps_typed(record.given[channel])
            if len(related) == 2:
                related += _siblings(cursor, queries, record)
        else:
            channels[channel] = _at_version(replaced, channel, version) or [version]
            continue
        channels[channel] = [version]
        if value is not None:
            same = [_at_version(each, channel, version) for each in related]
            ids = {entry[1] for entry in same if entry is not None and len(entry) == 2}
            channels[channel].append(_row_of(cursor, queries, record, channel, value, ids))
    return channels


def _siblings(cursor: sqlite3.Cursor, queries: Queries, record: PutRecord) -> list[Channels]:
    """Return the channels of the checkpoints that have the same parent."""
    cursor.execute(queries.channels_of_siblings, record.parent)
    return [readable_channels(text) or {} for (text,) in cursor.fetchall()]


def _at_version(channels: Channels, channel: str, version: Version) -> list[Any] | None:
    entry = channels.get(channel)
    return entry if entry is not None and entry[0] == version else None


def _row_of(
    cursor: sqlite3.Cursor,
    queries: Queries,
    record: PutRecord,
    channel: str,
    value: Typed,
    candidates: set[int],
) -> int:
    """Return the row of this value: a candidate that holds the same value, or else a new row."""
    if candidates:
        ids = json.dumps(sorted(candidates))
        found = cursor.execute(
            queries.same_value, (ids, *value, record.parent.thread_id)
        ).fetchone()
        if found is not None:
            return int(found[0])
    return _add_value(cursor, queries, record, channel, value)


def _add_value(
    cursor: sqlite3.Cursor, queries: Queries, record: PutRecord, channel: str, value: Typed
) -> int:
    cursor.execute(
        queries.add_value, (*record.parent[:2], channel, record.versions[channel], *value)
    )
    return int(cursor.lastrowid or 0)


def encode_writes(
    serde: SerializerProtocol,
    config: RunnableConfig,
    writes: Sequence[tuple[str, Any]],
    task_id: str,
    task_path: str,
) -> list[tuple[Any, ...]]:
    """Return the rows of a batch.

    A special channel has its fixed negative index, so that it can be replaced and never stands in
    the way of a regular write.
    """
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
