"""Where every difference went that an item saw: none is dropped.

A difference is shown as a finding; or explained by a finding that is shown, because both have the
same cause; or another family's, whose own items settle it; or unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.contracts.registry import contract
from saverproof.steps.definitions import Program, PutHistory


@dataclass(frozen=True, slots=True)
class Account:
    """What became of the differences of an item.

    ``unknown`` counts by contract. ``elsewhere`` counts by the contracts, some of them of other
    families, that may be behind; ``seen`` leaves it out, so that it is the sum of the others.
    ``examples`` are the fewest steps, in words, that showed a difference, by its first contract.
    """

    seen: int
    shown: int
    explained: int
    unknown: Counter[str]
    elsewhere: Counter[tuple[str, ...]]
    examples: Mapping[str, Sequence[str]]

    def as_data(self) -> dict[str, Any]:
        """The ``differences`` section of an item."""
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
    """Counts differences by the contract that each is blamed on.

    ``examples`` are the steps, in words, of the shortest program that showed one.
    """

    seen: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def note(self, name: str, times: int = 1) -> None:
        """A difference was seen, and blamed on a contract."""
        self.seen[name] += times

    def account(self, shown: Collection[str], own: Collection[str]) -> Account:
        """Where they went, given the contracts of the findings shown and those of the item."""
        covered, unknown, elsewhere = 0, Counter[str](), Counter[tuple[str, ...]]()
        for name, times in self.seen.items():
            if name in shown or _is_implied(name, shown):
                covered += times
            elif name in own:
                unknown[name] += times
            else:
                elsewhere[(name,)] += times
        # What a finding shows may have been seen without being counted trial by trial.
        covered = max(covered, len(shown))
        return Account(
            covered + unknown.total(),
            len(shown),
            covered - len(shown),
            unknown,
            elsewhere,
            self.examples,
        )


def _is_implied(name: str, shown: Collection[str]) -> bool:
    return any(name in contract(other).implies for other in set(shown))


def calls_in(program: Program) -> int:
    """About how many calls a program takes, by which examples of a difference are compared."""
    return sum(step.count if isinstance(step, PutHistory) else 1 for step in program)
