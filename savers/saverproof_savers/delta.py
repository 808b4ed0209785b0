"""The history of delta channels, read in two queries instead of one walk step a checkpoint."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.codec import Address, Channels, Typed, decode_channels, value_ids
from saverproof_savers.queries import Queries

if TYPE_CHECKING:
    from langgraph.checkpoint.base import DeltaChannelHistory

Write = tuple[str, Typed]
"""task id, value"""


@dataclass(slots=True)
class DeltaRows:
    """What the ancestors of one checkpoint contribute to some channels, still encoded."""

    writes: dict[str, list[Write]] = field(default_factory=dict)
    seeds: dict[str, Typed] = field(default_factory=dict)
    small_seeds: dict[str, Any] = field(default_factory=dict)
    """Seeds that stood in the channel map, and are not encoded."""

    def decode(
        self, serde: SerializerProtocol, channels: Sequence[str]
    ) -> dict[str, "DeltaChannelHistory"]:
        """One entry a channel: the writes, oldest first, and the seed where there is one."""
        history: dict[str, DeltaChannelHistory] = {}
        for channel in channels:
            history[channel] = {
                "writes": [
                    (task_id, channel, serde.loads_typed(value))
                    for task_id, value in self.writes.get(channel, ())
                ]
            }
            if channel in self.seeds:
                history[channel]["seed"] = serde.loads_typed(self.seeds[channel])
            elif channel in self.small_seeds:
                history[channel]["seed"] = self.small_seeds[channel]
        return history


def read_delta(
    cursor: sqlite3.Cursor, queries: Queries, address: Address, channels: Sequence[str]
) -> DeltaRows:
    """Walk up from the parent of the checkpoint; each channel stops at the first stored value."""
    rows = DeltaRows()
    chains, seeds = _walk(cursor, queries, address, channels)
    scope = (address.thread_id, address.checkpoint_ns)
    for channel, chain in chains.items():
        if not chain:
            continue
        cursor.execute(queries.delta_writes, (*scope, channel, json.dumps(chain)))
        by_checkpoint: dict[str, list[Write]] = {}
        for checkpoint_id, task_id, kind, value in cursor.fetchall():
            by_checkpoint.setdefault(checkpoint_id, []).append((task_id, (kind, value)))
        rows.writes[channel] = [
            write for ancestor in reversed(chain) for write in by_checkpoint.get(ancestor, ())
        ]
    rows.small_seeds = {channel: entry[2] for channel, entry in seeds.items() if len(entry) == 3}
    cursor.execute(queries.values_by_ids, (json.dumps(sorted(value_ids(seeds))),))
    values = {value_id: (kind, value) for value_id, kind, value in cursor.fetchall()}
    rows.seeds = {channel: values[entry[1]] for channel, entry in seeds.items() if len(entry) == 2}
    return rows


def _walk(
    cursor: sqlite3.Cursor, queries: Queries, address: Address, channels: Sequence[str]
) -> tuple[dict[str, list[str]], Channels]:
    """The ancestors that each channel passes, nearest first, and where its seed is."""
    target = address.checkpoint_id
    scope = (address.thread_id, address.checkpoint_ns)
    if target is None:
        latest = cursor.execute(queries.latest_checkpoint, scope).fetchone()
        target = latest[0] if latest else None
    chains: dict[str, list[str]] = {channel: [] for channel in channels}
    seeds: Channels = {}
    open_channels = set(channels)
    seen: set[str] = set()
    cursor.execute(queries.ancestors, (*scope, target, *scope))
    for checkpoint_id, text in cursor:
        # A checkpoint put again below its own descendant makes the chain a loop.
        if checkpoint_id in seen or not open_channels:
            break
        seen.add(checkpoint_id)
        if checkpoint_id == target:
            continue
        stored: dict[str, list[Any]] = decode_channels(text)
        for channel in list(open_channels):
            chains[channel].append(checkpoint_id)
            entry = stored.get(channel, ())
            if len(entry) > 1:
                seeds[channel] = list(entry)
                open_channels.discard(channel)
    return chains, seeds
