"""Records of the model: checkpoints, their channels, and pending writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from saverproof.programs.steps.definitions import Put
from saverproof.programs.values import Value

Version: TypeAlias = str | int | float
Address: TypeAlias = tuple[str, str, int]
"""A checkpoint's thread, namespace and number."""

WriteKey: TypeAlias = tuple[int, int]
"""A pending write's task number and index."""

SPECIAL_INDEX: Mapping[str, int] = {
    "__error__": -1,
    "__scheduled__": -2,
    "__interrupt__": -3,
    "__resume__": -4,
}
"""The fixed index of each special channel (``WRITES_IDX_MAP`` of the base module)."""
_SNAPSHOT = "delta-snapshot"
"""The kind of the values that the loop stores of a delta channel after every so many changes."""


@dataclass(frozen=True, slots=True, eq=False)
class Circumstance:
    """Something that happened to a stored checkpoint or write.

    If the checkpoint or write is then compared and is right, that is evidence for the contract on
    what happened as well. Circumstances are compared by identity, because counting them takes much
    of the time.
    """

    name: str


COPIED = Circumstance("its thread was copied")
PRUNED_TO = Circumstance("prune kept it")
PUT_AGAIN = Circumstance("the same was put again")
REPLACED = Circumstance("another content was put under its id")
WRITES_BEFORE_REPUT = Circumstance("it had writes when it was put again")
HAS_CHILD = Circumstance("a child was put")
EARLY = Circumstance("written before its checkpoint")
LATE = Circumstance("written when its checkpoint had a successor")
TWO_PATHS = Circumstance("its task wrote under two paths")
SPECIAL = Circumstance("written to a special channel")
SPECIAL_AGAIN = Circumstance("written to a special channel again")
SPECIAL_AGAIN_MIXED = Circumstance("written to a special channel again, beside regular writes")
SAME_ID = Circumstance("another namespace of its thread has the same id")
ADDED = Circumstance("its task had regular writes before")
PRUNED_AS_OLDER = "prune to the latest"
"""The operation by which older checkpoints go that a saver may keep."""
_PUT_AFTER_PRUNE = Circumstance("put again after prune")
RETURNED = {
    "delete_thread": Circumstance("put again after delete_thread"),
    "delete_for_runs": Circumstance("put again after delete_for_runs"),
    "prune": _PUT_AFTER_PRUNE,
    PRUNED_AS_OLDER: _PUT_AFTER_PRUNE,
}
"""Operation that removed an id -> the circumstance that the id was put again afterwards."""


class Provenance(StrEnum):
    """The reason why a channel of a checkpoint has its value."""

    GIVEN = "given"
    CARRIED = "carried"
    COPIED = "copied"
    DROPPED = "dropped"


@dataclass(slots=True)
class Channel:
    """One channel of a checkpoint; ``value`` is None if it has no value.

    ``optional`` channels may be shown with their value or left out: the put gave no value, and
    their version is unchanged.
    """

    value: Value | None
    version: Version
    provenance: Provenance
    optional: bool = False


@dataclass(slots=True)
class PendingWrite:
    """One stored write.

    ``position`` is its place in its batch. ``earlier`` are the values that it replaced, the latest
    last. ``marks`` are the circumstances that its presence is evidence for. ``copy_of`` is the
    write of another thread that it was copied from.
    """

    task: int
    index: int
    channel: str
    value: Value
    path: str
    position: int = 0
    earlier: tuple[Value, ...] = ()
    mixed: bool = False
    marks: set[Circumstance] = field(default_factory=set)
    doubted: bool = False
    copy_of: PendingWrite | None = None


@dataclass(slots=True)
class Record:
    """One checkpoint.

    ``doubts`` names facts that the saver was seen to get wrong; they are masked from then on.
    ``marks`` are the circumstances that comparing the record is evidence for; ``last_marks`` are
    those added by its last put. ``stale`` is metadata of an earlier put that must be gone.
    ``barred`` are keys that it must not have. ``before`` is the operation that had removed the id
    before it was put. ``copy_of`` is the thread that it was copied from. ``looked_at`` is True
    once it was compared since it was last put. ``agreed`` is what judging keeps of the last answer
    that was right.
    """

    step: Put
    channels: dict[str, Channel]
    seen: dict[str, dict[str, Version]]
    metadata: dict[str, Any]
    merged: dict[str, Any]
    barred: frozenset[str] = frozenset()
    puts: int = 1
    stale: dict[str, Any] = field(default_factory=dict)
    before: str | None = None
    copy_of: str | None = None
    parent_may_be_gone: bool = False
    looked_at: bool = False
    doubts: set[str] = field(default_factory=set)
    marks: set[Circumstance] = field(default_factory=set)
    last_marks: set[Circumstance] = field(default_factory=set)
    agreed: Any = field(default=None, init=False, repr=False, compare=False)

    @property
    def parent(self) -> int | None:
        """The number of the parent checkpoint."""
        return self.step.parent


def delta_channels(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the delta channels, according to the metadata of a namespace's checkpoints.

    A channel that merely lost its value is not a delta channel: nobody rebuilds it from its
    ancestors.
    """
    return tuple(sorted({name for record in records for name in counted(record.metadata)}))


def uses_deltas(records: Iterable[Record]) -> bool:
    """Return whether a namespace's checkpoints show that its graph has delta channels.

    LangGraph leaves out the counters of a checkpoint that snapshots all of them.
    """
    return any(
        counted(record.metadata)
        or any(c.value is not None and c.value.kind == _SNAPSHOT for c in record.channels.values())
        for record in records
    )


def counted(metadata: Mapping[str, Any]) -> Mapping[str, tuple[int, int]]:
    """Return the delta channels that metadata name, each with its updates and supersteps since its
    last snapshot.
    """
    counters: Mapping[str, tuple[int, int]] = metadata.get("counters_since_delta_snapshot") or {}
    return counters


@dataclass(frozen=True, slots=True)
class PlannedPut:
    """The things that a put stores, with their versions: the model's side of one ``put`` call."""

    channels: dict[str, Channel]
    new_versions: dict[str, Version]
    seen: dict[str, dict[str, Version]]
    again: bool
