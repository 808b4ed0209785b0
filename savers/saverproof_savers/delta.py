"""Read the history of delta channels in two queries, not in one for each checkpoint."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.serde.base import SerializerProtocol

from saverproof_savers.codec import Address, Typed, check_entry, decode_object
from saverproof_savers.queries import Queries
from saverproof_savers.reading import undecodable

if TYPE_CHECKING:
    from langgraph.checkpoint.base import DeltaChannelHistory

Write = tuple[str, str, Typed]
"""A pending write: (checkpoint_id, task id, value)."""

Seed = tuple[str, list[Any]]
"""A stored value to start from: (checkpoint_id, entry of its channel map)."""


@dataclass(slots=True)
class DeltaRows:
    """The parts that the ancestors of one checkpoint contribute to some channels, still encoded."""

    address: Address
    writes: dict[str, list[Write]] = field(default_factory=dict)
    seeds: dict[str, Seed] = field(default_factory=dict)
    values: dict[int, Typed] = field(default_factory=dict)
    damaged: tuple[str, Exception] | None = None
    """The first ancestor that cannot be read, and why. ``decode`` raises that."""

    def decode(
        self, serde: SerializerProtocol, channels: Sequence[str], where: str
    ) -> dict[str, "DeltaChannelHistory"]:
        """Return an entry for each channel: the writes, oldest first, and the seed if there is one.

        Raises:
            UndecodableError: an ancestor cannot be read; the message names its row.
        """
        if self.damaged is not None:
            checkpoint_id, error = self.damaged
            raise undecodable((*self.address[:2], checkpoint_id), error, where) from error
        history: dict[str, DeltaChannelHistory] = {}
        for channel in channels:
            history[channel] = {
                "writes": [
                    (task_id, channel, self._load(serde, checkpoint_id, value, where))
                    for checkpoint_id, task_id, value in self.writes.get(channel, ())
                ]
            }
            if channel not in self.seeds:
                continue
            checkpoint_id, entry = self.seeds[channel]
            if len(entry) == 3:
                history[channel]["seed"] = entry[2]
            else:
                value = self.values.get(entry[1])
                history[channel]["seed"] = self._load(serde, checkpoint_id, value, where)
        return history

    def _load(
        self, serde: SerializerProtocol, checkpoint_id: str, value: Typed | None, where: str
    ) -> Any:
        try:
            if value is None:
                raise KeyError("a value is missing")
            return serde.loads_typed(value)
        except Exception as error:
            raise undecodable((*self.address[:2], checkpoint_id), error, where) from error


def read_delta(
    cursor: sqlite3.Cursor, queries: Queries, address: Address, channels: Sequence[str]
) -> DeltaRows:
    """Walk up from the parent of the checkpoint. Each channel stops at its first stored value."""
    rows = DeltaRows(address)
    chains = _walk(cursor, queries, address, channels, rows)
    scope = (address.thread_id, address.checkpoint_ns)
    for channel, chain in chains.items():
        if not chain:
            continue
        cursor.execute(queries.delta_writes, (*scope, channel, json.dumps(chain)))
        by_checkpoint: dict[str, list[Write]] = {}
        for checkpoint_id, task_id, kind, value in cursor.fetchall():
            by_checkpoint.setdefault(checkpoint_id, []).append(
                (checkpoint_id, task_id, (kind, value))
            )
        rows.writes[channel] = [
            write for ancestor in reversed(chain) for write in by_checkpoint.get(ancestor, ())
        ]
    ids = sorted({entry[1] for _, entry in rows.seeds.values() if len(entry) == 2})
    cursor.execute(queries.values_by_ids, (json.dumps(ids), address.thread_id))
    rows.values = {value_id: (kind, value) for value_id, kind, value in cursor.fetchall()}
    return rows


def _walk(
    cursor: sqlite3.Cursor,
    queries: Queries,
    address: Address,
    channels: Sequence[str],
    rows: DeltaRows,
) -> dict[str, list[str]]:
    """Return the ancestors that each channel passes, nearest first; put seeds into ``rows``."""
    target = address.checkpoint_id
    scope = (address.thread_id, address.checkpoint_ns)
    if target is None:
        latest = cursor.execute(queries.latest_checkpoint, scope).fetchone()
        target = latest[0] if latest else None
    chains: dict[str, list[str]] = {channel: [] for channel in channels}
    open_channels = set(channels)
    seen: set[str] = set()
    cursor.execute(queries.ancestors, (*scope, target, *scope))
    for checkpoint_id, parent_id, text in cursor:
        # A checkpoint that was put again below its own descendant makes the chain a loop.
        if checkpoint_id in seen or not open_channels:
            break
        seen.add(checkpoint_id)
        try:
            if checkpoint_id != target:
                stored = decode_object(text)
                for channel in list(open_channels):
                    chains[channel].append(checkpoint_id)
                    if channel not in stored:
                        continue
                    check_entry(channel, stored[channel])
                    if len(stored[channel]) > 1:
                        rows.seeds[channel] = checkpoint_id, stored[channel]
                        open_channels.discard(channel)
            if open_channels and type(parent_id) not in (str, type(None)):
                raise ValueError(f"found the parent {parent_id!r:.60}, expected text")
        except ValueError as error:
            rows.damaged = checkpoint_id, error
            break
    return chains
