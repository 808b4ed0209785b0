"""Finds what delta channels allow of a removal: which checkpoints of deleted runs are still needed
to rebuild those of other runs, and whether it may be refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from saverproof.judging.context import Context
from saverproof.programs.model.records import (
    Address,
    Record,
    counted,
    delta_channels,
    uses_deltas,
)
from saverproof.programs.model.store import LEFT_ALONE

_HEADS = 3
"""The heads of branches, newest first, whose channels are rebuilt in each namespace: enough to tell
one branch from another, and each costs a walk over its ancestors.
"""
Records = Mapping[int, Record]


@dataclass(frozen=True, slots=True)
class Needed:
    """The deleted runs' checkpoints that may stay, and the delta channels rebuilt from them.

    ``by`` has the surviving heads of branches, each with its delta channels.
    """

    may_stay: list[Address] = field(default_factory=list)
    by: dict[Address, tuple[str, ...]] = field(default_factory=dict)


def needed_by_survivors(context: Context, runs: Sequence[str]) -> Needed:
    """Return what survivors need of the runs' checkpoints, before these are deleted."""
    doomed: dict[tuple[str, str], set[int]] = {}
    for thread, namespace, number in context.model.of_runs(runs):
        doomed.setdefault((thread, namespace), set()).add(number)
    needed = Needed()
    for place, gone in doomed.items():
        records = context.model.history(*place)
        if may_have_deltas(records):
            needed.may_stay.extend((*place, number) for number in _above_survivors(records, gone))
            for number, channels in _heads(records, gone):
                needed.by[(*place, number)] = channels
    return needed


def may_have_deltas(records: Records) -> bool:
    """Return whether a careful saver could take a channel of a namespace for a delta channel."""
    return bool(delta_channels(records.values())) or any(
        channel.value is None for record in records.values() for channel in record.channels.values()
    )


def may_be_refused(context: Context, threads: Collection[str]) -> bool:
    """Return whether a saver may refuse to remove checkpoints of these threads, for delta channels.

    One that does looks at all that it has of a thread, as LangGraph's saver on PostgreSQL does;
    what checkpoints hold that were left alone is not known.
    """
    model = context.model
    alone = {address[0] for address, how in model.gone.items() if how == LEFT_ALONE}
    return any(
        thread in alone
        or any(uses_deltas(records.values()) for records in model.threads.get(thread, {}).values())
        for thread in threads
    )


def _above_survivors(records: Records, gone: Collection[int]) -> list[int]:
    """Return the checkpoints among the ``gone`` that are ancestors of one that stays."""
    passed: set[int] = set()
    for number in records:
        if number not in gone:
            for ancestor in _ancestors(records, number):
                if ancestor in passed:
                    break
                passed.add(ancestor)
    return sorted(passed & {*gone})


def _heads(records: Records, gone: Collection[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield remaining checkpoints without children, each with its channels that are rebuilt from
    deleted checkpoints. Only the newest few are looked at.
    """
    parents = {record.parent for number, record in records.items() if number not in gone}
    heads = sorted((n for n in records if n not in gone and n not in parents), reverse=True)
    for head in heads[:_HEADS]:
        # LangGraph counts each channel that is to be rebuilt in the metadata of its checkpoint.
        deltas = sorted(counted(records[head].metadata))
        channels = tuple(name for name in deltas if _is_rebuilt_from(records, head, name, gone))
        if channels:
            yield head, channels


def _is_rebuilt_from(records: Records, head: int, name: str, gone: Collection[int]) -> bool:
    own = records[head].channels.get(name)
    if own is None or own.value is not None:
        return False
    for ancestor in _ancestors(records, head):
        if ancestor in gone:
            return True
        channel = records[ancestor].channels.get(name)
        if channel is not None and channel.value is not None:
            return False
    return False


def _ancestors(records: Records, number: int) -> Iterator[int]:
    parent = records[number].parent
    while parent is not None and parent in records:
        yield parent
        parent = records[parent].parent
