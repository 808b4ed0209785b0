"""The description of a family of contracts without its judging: plain data, light to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saverproof.contracts.contract import Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTable:
    """A family and its contracts, as the plugin, the reports, the docs and the commands know it.

    Attributes:
        name: the first part of its contracts' ids.
        title: its subject, for someone who has never heard of it; not a sentence.
        contracts: its contracts, in the order of the documentation.
        phase: how its violations are found ("functional", "fault", "crash", "concurrency",
            "graph", "cost", "resources" or "upgrade"); a single finding may have another.
        crossed: True if it compares the sync with the async API, in one item "crossed".
        long: True for the families that take longest. They run after all others, one API after the
            other, so that processes which share the items get equal work.
        in_memory: True if its scratch folder may be in memory.
        asks_for: the name of a fact about the saver; without that fact the family has no items. ""
            if it always has some.
    """

    name: str
    title: str
    contracts: tuple[Contract, ...]
    phase: str = "functional"
    crossed: bool = False
    long: bool = False
    in_memory: bool = True
    asks_for: str = ""

    def apis(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """Return the APIs of its items for a saver that is judged through the APIs ``chosen``."""
        if self.crossed:
            return ("crossed",) if len(chosen) > 1 else ()
        return tuple(chosen)


def contracts_in(module: Mapping[str, object]) -> tuple[Contract, ...]:
    """Return the contracts that a module defines, in its order; ``module`` is its ``globals()``."""
    return tuple(found for found in module.values() if isinstance(found, Contract))
