"""Find out how many programs fit into a budget of time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from saverproof.families.budget import Budget
from saverproof.programs.theme import Theme


@dataclass(slots=True)
class Pace:
    """The longest time that a program has taken, by which the next ones are estimated."""

    budget: Budget
    longest_s: float = 0.0

    @contextmanager
    def timed(self, theme: Theme) -> Iterator[None]:
        """Time the program of a theme that runs in the block."""
        before = self.budget.spent_s
        yield
        if theme.script is None:
            self.longest_s = max(self.longest_s, self.budget.spent_s - before)

    def has_room(self, what: str) -> bool:
        """Return whether one more program is likely to end in time, and count that program.

        ``what`` names it if it is left out.
        """
        room = self.budget.has_room(self.longest_s)
        self.budget.count(what, done=room)
        return room

    def examples(self, most: int) -> int:
        """Return how many of Hypothesis's ``most`` programs there is time for."""
        there = sum(self.budget.has_room((one + 1) * self.longest_s) for one in range(most))
        self.budget.leave_out("examples of Hypothesis", there, most)
        return there
