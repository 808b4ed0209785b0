"""Known mistakes of savers: classes of savers that are right except for one thing.

They have two uses. The self-test demands that the kit catches each of them and blames the contract
that it breaks. In a failed run, the kit searches for mistakes that together answer exactly as the
saver under test does.
"""

from __future__ import annotations

from saverproof.mistakes import (
    channels,
    clocks,
    deletion,
    delta_changes,
    delta_history,
    filter,
    hostile,
    identifiers,
    identity,
    interface,
    isolation,
    leaving,
    lifecycle,
    metadata,
    names,
    ordering,
    ownership,
    pages,
    parity,
    pending_writes,
    pruning,
    selecting,
    serialization,
    sizes,
    structured_values,
    upsert,
    values,
    what_is_alike,
    what_is_asked,
    what_is_left,
    what_is_named,
    what_is_removed,
    write_order,
    write_places,
)
from saverproof.mistakes.registry import REGISTERED, Mistake, mistake, opener

__all__ = [
    "MISTAKES",
    "Mistake",
    "channels",
    "clocks",
    "deletion",
    "delta_changes",
    "delta_history",
    "filter",
    "hostile",
    "identifiers",
    "identity",
    "interface",
    "isolation",
    "leaving",
    "lifecycle",
    "metadata",
    "mistake",
    "names",
    "opener",
    "ordering",
    "ownership",
    "pages",
    "parity",
    "pending_writes",
    "pruning",
    "selecting",
    "serialization",
    "sizes",
    "structured_values",
    "upsert",
    "values",
    "what_is_alike",
    "what_is_asked",
    "what_is_left",
    "what_is_named",
    "what_is_removed",
    "write_order",
    "write_places",
]

MISTAKES: tuple[Mistake, ...] = tuple(REGISTERED)
