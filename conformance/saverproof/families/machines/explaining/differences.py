"""Accounts for every difference that an item saw, so that none is dropped.

A difference is shown as a finding, explained by a finding with the same cause, left to the items of
another family, or unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.programs.steps.definitions import Program, PutHistory


@dataclass(frozen=True, slots=True)
class Account:
    """The account of the differences of an item.

    ``unknown`` counts differences by contract. ``elsewhere`` counts those left to other items, by
    the contracts that may be behind them. ``seen`` is the sum of all others. ``examples`` has, for
    each contract, the shortest program in words that showed a difference.
    """

    seen: int
    shown: int
    explained: int
    unknown: Counter[str]
    elsewhere: Counter[tuple[str, ...]]
    examples: Mapping[str, Sequence[str]]

    def as_data(self) -> dict[str, Any]:
        """Return the ``differences`` section of an item's report."""
        return {
            "seen": self.seen,
            "shown": self.shown,
            "explained": self.explained,
            "unknown": self.unknown.total(),
            "elsewhere": [
                {
                    "contracts": list(names),
                    "times": times,
                    "steps": list(self.examples.get(names[0], ())),
                }
                for names, times in self.elsewhere.items()
            ],
        }


@dataclass(slots=True)
class Differences:
    """A count of differences by the contract that each is blamed on.

    ``examples`` has, for each contract, the shortest program in words that showed a difference.
    """

    seen: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def note(self, name: str, times: int = 1) -> None:
        """Count a difference that was blamed on a contract."""
        self.seen[name] += times

    def account(self, shown: Collection[str], own: Collection[str]) -> Account:
        """Account for all differences.

        ``shown`` are the contracts of the findings, ``own`` those that the item judges.
        """
        covered, unknown, elsewhere = 0, Counter[str](), Counter[tuple[str, ...]]()
        for name, times in self.seen.items():
            if name in shown or is_implied(name, shown):
                covered += times
            elif name in own:
                unknown[name] += times
            else:
                elsewhere[(name,)] += times
        # A finding may show a difference that was not counted trial by trial.
        covered = max(covered, len(shown))
        return Account(
            covered + unknown.total(),
            len(shown),
            covered - len(shown),
            unknown,
            elsewhere,
            self.examples,
        )


def is_implied(name: str, shown: Collection[str]) -> bool:
    """Return whether a breach of one of these contracts may break ``name`` as well."""
    return any(name in contract(other).implies for other in set(shown))


def calls_in(program: Program) -> int:
    """Return about how many calls a program takes. The example with the fewest calls is kept."""
    return sum(step.count if isinstance(step, PutHistory) else 1 for step in program)
