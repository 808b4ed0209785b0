"""What is known of a family of contracts without judging anything: plain data, light to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saverproof.contracts.contract import Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTable:
    """A family and its contracts. From it the plugin, the reports, the docs and the CLI know of it.

    Attributes:
        name: what the ids of its contracts begin with.
        title: what it is about, for someone who has never heard of it; no sentence.
        contracts: its promises, in the order of the documentation.
        phase: how its violations are found ("functional", "fault", "crash", "concurrency",
            "graph", "cost" or "resources"); a single finding may have another.
        crossed: its items hold the sync and the async API against each other: one item, "crossed".
        long: one of those that take the longest. They run API by API, after all others, so that
            processes that share the items in turn have as much to do each.
        in_memory: its scratch folder may lie in memory.
    """

    name: str
    title: str
    contracts: tuple[Contract, ...]
    phase: str = "functional"
    crossed: bool = False
    long: bool = False
    in_memory: bool = True

    def apis(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """The APIs of its items, of a saver of which the APIs ``chosen`` are to be judged."""
        if self.crossed:
            return ("crossed",) if len(chosen) > 1 else ()
        return tuple(chosen)


def contracts_in(module: Mapping[str, object]) -> tuple[Contract, ...]:
    """The contracts among what a module defines, in its order; ``module`` is its ``globals()``."""
    return tuple(found for found in module.values() if isinstance(found, Contract))
