"""Decide which checkpoints of a thread pruning removes: plain data in, plain data out."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

STRATEGIES = ("keep_latest", "delete")
_TRIGGERS = ("__", "branch:", "start:")


@dataclass(frozen=True, slots=True)
class Stored:
    """The facts that pruning needs about a checkpoint."""

    parent_id: str | None
    channels: Mapping[str, Collection[Any]]
    """Channel -> its version, followed by a further entry if the channel has a value."""
    delta_channels: frozenset[str]
    """Channels that LangGraph's metadata say are kept as deltas."""
    root_id: str | None
    """The checkpoint of the root namespace from which the call in this namespace started."""

    @classmethod
    def of(
        cls,
        parent_id: str | None,
        channels: Mapping[str, Collection[Any]],
        metadata: Mapping[str, Any],
    ) -> "Stored":
        """Make the facts about a checkpoint from its parent, channels and metadata."""
        counters = metadata.get("counters_since_delta_snapshot")
        parents = metadata.get("parents")
        return cls(
            parent_id,
            channels,
            frozenset(counters if isinstance(counters, dict) else ()),
            parents.get("") if isinstance(parents, dict) else None,
        )


Namespace: TypeAlias = dict[str, Stored]
"""The checkpoints of one namespace, by id."""


def check_strategy(strategy: str) -> None:
    """Raise ValueError unless ``prune`` knows the strategy."""
    if strategy not in STRATEGIES:
        raise ValueError(
            f"prune: found strategy {strategy!r}, expected one of {', '.join(STRATEGIES)}"
        )


def pruned(namespaces: Mapping[str, Namespace]) -> list[tuple[str, str]]:
    """Return the namespace and id of each checkpoint that may be removed.

    The newest checkpoint of each namespace stays, with those from which its delta channels are
    rebuilt. A namespace of a task (``node:task``) is removed if its call started from a root
    checkpoint that is removed: nothing can return to it. A namespace that is a bare node name is
    the memory of a subgraph, and stays.
    """
    gone: list[tuple[str, str]] = []
    gone_roots: set[str] = set()
    # The root namespace comes first.
    for checkpoint_ns in sorted(namespaces):
        stored = namespaces[checkpoint_ns]
        newest = max(stored)
        if ":" in checkpoint_ns and stored[newest].root_id in gone_roots:
            kept: set[str] = set()
        else:
            kept = _needed(stored, newest)
        # In the order in which they are stored: that of a set differs from process to process.
        dropped = [checkpoint_id for checkpoint_id in stored if checkpoint_id not in kept]
        gone.extend((checkpoint_ns, checkpoint_id) for checkpoint_id in dropped)
        if checkpoint_ns == "":
            gone_roots = set(dropped)
    return gone


def needed_of(stored: Namespace, gone: Collection[str]) -> set[str]:
    """Return the checkpoints in ``gone`` from which the delta channels of the others are
    rebuilt.
    """
    needed: dict[str, set[str]] = {}
    for checkpoint_id, one in stored.items():
        if checkpoint_id not in gone:
            for channel in one.delta_channels:
                _add_path(needed.setdefault(channel, set()), stored, checkpoint_id, channel)
    return set().union(*needed.values()) & {*gone}


def _needed(stored: Namespace, newest: str) -> set[str]:
    """Return the newest checkpoint, and the ancestors from which one of its channels may be
    rebuilt.

    Nothing in a database says for certain which channels are delta channels. A channel with a
    version and no value may be one: it needs its ancestors up to the nearest value. Channels by
    which LangGraph triggers nodes lose their values in every step, and are no delta channels.
    """
    needed: dict[str, set[str]] = {}
    for channel in stored[newest].channels:
        if channel.startswith(_TRIGGERS) and channel not in stored[newest].delta_channels:
            continue
        _add_path(needed.setdefault(channel, set()), stored, newest, channel)
    return {newest}.union(*needed.values())


def _add_path(passed: set[str], stored: Namespace, checkpoint_id: str, channel: str) -> None:
    """Add a checkpoint and its ancestors to ``passed``, up to the nearest one that has a value of
    the channel, or that is in ``passed`` already.
    """
    at: str | None = checkpoint_id
    while at in stored and at not in passed:
        passed.add(at)
        if len(stored[at].channels.get(channel, ())) > 1:
            break
        at = stored[at].parent_id
