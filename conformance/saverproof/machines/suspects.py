"""What was found to be behind differences, and what a program is without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from saverproof.machines.ingredients import Ingredient, Rewriting
from saverproof.steps.definitions import Program

_WAYS = 3
"""How many of the things that a finding needs are taken out in turn, the most special ones."""


@dataclass(slots=True)
class Suspect:
    """A contract that was found broken, and which differences may come from that.

    ``whole`` leaves out all that the contract speaks of. Each of the ``ways`` leaves out one thing
    that the finding needs, and keeps what another flaw of the same contract may need.
    """

    contract: str
    may_be_behind: Callable[[str], bool]
    whole: Rewriting | None = None
    ways: tuple[Rewriting, ...] = ()

    def without(self, program: Program, turn: int) -> Program | None:
        """The program without one of the things that the finding needs: they take turns. None if
        nothing is known that it needs.
        """
        if self.ways:
            return self.ways[turn % len(self.ways)](program)
        return self.entirely(program)

    def entirely(self, program: Program) -> Program | None:
        """The program with nothing left of what the finding is about."""
        rewriting = self.whole or next(iter(self.ways), None)
        return None if rewriting is None else rewriting(program)


def ways_without(needs: Iterable[Ingredient]) -> tuple[Rewriting, ...]:
    """How to leave out what a finding needs: kinds of steps only if it needs nothing else."""
    needed = list(needs)
    special = [each for each in needed if not each.whole_step] or needed
    return tuple(each.without for each in special[:_WAYS])
