"""How often a search looks into what seems to break one contract: all of it would take for ever."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MOST_CAUSES = 5
"""Findings of different causes that are shown for one contract."""
_DISMISS_AFTER = 3
_LOOKS_AT_WHAT_IS_KNOWN = 12
_LOOKS_ONCE_SPENT = 1
"""Looks at differences of one contract of another family, whose own items settle them."""
_LEAST_ALLOWANCE = 1_500
"""Calls that may always be spent on what was found already."""


@dataclass(slots=True)
class FollowUpLimits:
    """What was looked into, by the contract that it seemed to break.

    ``dismissed`` are looks that found nothing to show, ``explained`` those that led to what was
    found already, ``beyond`` those at what was found, for another cause of it. ``spent`` are the
    calls for follow-ups of what was found already, and of other families' contracts.
    """

    dismissed: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    beyond: Counter[str] = field(default_factory=Counter)
    spent: int = 0

    def is_exhausted(self, calls: int) -> bool:
        """Whether enough of all ``calls`` was spent on what was found already."""
        return self.spent > max(_LEAST_ALLOWANCE, (calls - self.spent) // 2)

    def is_given_up(self, contract: str) -> bool:
        """Whether it came to nothing too often."""
        return self.dismissed[contract] >= _DISMISS_AFTER

    def is_explained(self, contract: str, *, once: bool) -> bool:
        """Whether it led often enough, or ``once``, to what was found already."""
        most = _LOOKS_ONCE_SPENT if once else _LOOKS_AT_WHAT_IS_KNOWN
        return self.explained[contract] >= most

    def may_go_beyond(self, contract: str, causes: int) -> bool:
        """Whether to look for one more cause of a breach of which so many are known."""
        return causes < MOST_CAUSES and self.beyond[contract] < _LOOKS_AT_WHAT_IS_KNOWN
