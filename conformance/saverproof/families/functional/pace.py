"""How many programs there is room for in a budget of time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from saverproof.families.budget import Budget
from saverproof.programs.theme import Theme


@dataclass(slots=True)
class Pace:
    """What a made program takes, and so how many there is room for in a budget."""

    budget: Budget
    longest_s: float = 0.0

    @contextmanager
    def timed(self, theme: Theme) -> Iterator[None]:
        """A program of a theme runs in the block."""
        before = self.budget.spent_s
        yield
        if theme.script is None:
            self.longest_s = max(self.longest_s, self.budget.spent_s - before)

    def has_room(self, what: str) -> bool:
        """Whether one more ends in time; one that does not is left out."""
        room = self.budget.has_room(self.longest_s)
        self.budget.count(what, done=room)
        return room

    def examples(self, most: int) -> int:
        """How many of Hypothesis's there is room for."""
        there = sum(self.budget.has_room((one + 1) * self.longest_s) for one in range(most))
        self.budget.leave_out("examples of Hypothesis", there, most)
        return there
