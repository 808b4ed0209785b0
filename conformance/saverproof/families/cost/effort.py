"""To which sizes stores grow."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from saverproof.capability import Capability
from saverproof.facts import Facts
from saverproof.families.cost.stores import GrowingStore, Limit, UnchangedValue

FIRST, FACTOR, FEWEST = 16, 4, 3
"""The smallest size, how much larger each next one is, and the fewest that a law can be told by.

The smallest is that of the threads which every store has; 16 and 1,024 differ by 64 times.
"""
_LARGEST = {"quick": 256, "default": 1_024, "deep": 4_096}
_PATIENCE_S = {"quick": 2.0, "default": 6.0, "deep": 60.0}
"""What it may take to let one store grow."""
_CALLS_FOR_EACH = 2
"""A put and a put_writes."""
_OF_THEIR_OWN: Mapping[type[GrowingStore], tuple[int, ...]] = MappingProxyType(
    {
        # Half a megabyte is what a page of a document or an image takes.
        UnchangedValue: (1 << 10, 1 << 13, 1 << 16, 1 << 19),
        # From a screen to all of the thread.
        Limit: (4, 16, 64),
    }
)


_ONE_RECORD = (16, 32, 64)
"""Of a saver that says how it grows: that is to be told, and takes the square of the size."""


def sizes_of(store: type[GrowingStore], profile: str, facts: Facts) -> tuple[int, ...]:
    """The sizes at which a store is asked, of a saver of which the probe found ``facts``."""
    if store in _OF_THEIR_OWN:
        return _OF_THEIR_OWN[store]
    if Capability.SEPARATE_RECORDS not in facts["capabilities"]:
        return _ONE_RECORD
    sizes = [FIRST]
    while sizes[-1] * FACTOR <= _LARGEST[profile]:
        sizes.append(sizes[-1] * FACTOR)
    seconds_for_each = _CALLS_FOR_EACH * facts.get("call_ms", 0.0) / 1_000
    while len(sizes) > FEWEST and sizes[-1] * seconds_for_each > _PATIENCE_S[profile]:
        sizes.pop()
    return tuple(sizes)
