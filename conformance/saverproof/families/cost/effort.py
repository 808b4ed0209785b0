"""Says to which sizes stores grow."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from saverproof.capability import Capability
from saverproof.families.cost import stores
from saverproof.families.cost.stores import GrowingStore
from saverproof.savers.facts import Facts

FIRST, FACTOR, FEWEST = 16, 4, 3
"""The smallest size, the factor to each next one, and the fewest sizes from which a law can be
told.

Every store has as many other threads as the smallest size. 16 and 1,024 differ by a factor of 64.
"""
_LARGEST = {"quick": 256, "default": 1_024, "deep": 4_096}
_PATIENCE_S = {"quick": 2.0, "default": 6.0, "deep": 60.0}
"""How many seconds one store may take to grow."""
_CALLS_FOR_EACH = 2
"""A put and a put_writes for each unit of growth."""
_OF_THEIR_OWN: Mapping[type[GrowingStore], tuple[int, ...]] = MappingProxyType(
    {
        # Half a megabyte is what a page of a document or an image takes.
        stores.UnchangedValue: (1 << 10, 1 << 13, 1 << 16, 1 << 19),
        # What 32 steps take besides, some 2 kB each, is little beside the largest.
        stores.Agent: (1 << 10, 1 << 14, 1 << 18),
        stores.LargeValues: (1 << 10, 1 << 13, 1 << 16),
        # From a screen to all of the thread.
        stores.Limit: (4, 16, 64),
        # Each is made anew for each time that it is asked.
        stores.ThreadSize: (4, 16, 64),
        # What is left of one round in sixteen is seen, and what a store takes more at first is not.
        stores.Rounds: (1, 4, 16),
        stores.RoundsOfRetries: (1, 4, 16),
        stores.RoundsOfCopies: (1, 4, 16),
        stores.RoundsOfRuns: (1, 4, 16),
        stores.RoundsOfPruning: (1, 4, 16),
        # SQLite folds its log into the file after 4 MB, 16 rounds; other engines after 16 MB.
        stores.RoundsWhileOpen: (16, 64, 256),
        stores.Chat: (50, 100, 200),
    }
)


FOLDED_BY = 1_024
"""The rounds by which any engine that is known has folded its log into the store: 256 MB. Some do
so after 64 MB.
"""
_ONE_RECORD = (16, 32, 64)
"""The sizes for a saver that keeps a thread in one record: its cost grows with the square of the
size, and few sizes show that.
"""


def sizes_of(store: type[GrowingStore], profile: str, facts: Facts) -> tuple[int, ...]:
    """Return the sizes at which a store is asked; ``facts`` are what the probe found out about the
    saver.
    """
    one_record = Capability.SEPARATE_RECORDS not in facts["capabilities"]
    if store in _OF_THEIR_OWN:
        own = _OF_THEIR_OWN[store]
        return tuple(size // 16 for size in own) if one_record and own[0] >= 1 << 10 else own
    if one_record:
        return _ONE_RECORD
    sizes = [FIRST]
    # A thread has thousands of checkpoints; of all else, what goes through it shows at a size less.
    largest = _LARGEST[profile] // (1 if store is stores.Checkpoints else FACTOR)
    while len(sizes) < FEWEST or sizes[-1] * FACTOR <= largest:
        sizes.append(sizes[-1] * FACTOR)
    seconds_for_each = _CALLS_FOR_EACH * facts.get("call_ms", 0.0) / 1_000
    while len(sizes) > FEWEST and sizes[-1] * seconds_for_each > _PATIENCE_S[profile]:
        sizes.pop()
    return tuple(sizes)
