"""What a program may need to show a difference, and the program without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from saverproof.steps.definitions import Program

Rewriting: TypeAlias = Callable[[Program], Program]


@dataclass(frozen=True, slots=True)
class Trait:
    """Something about a program: a kind of value, a field of a step, what two steps have to do with
    each other.

    Attributes:
        contract: the contract that speaks of it; empty if none does.
        without: the program without it; the same program if it has nothing of the kind.
        name: what it is called; by default it is what its contract is about.
        whole_step: whether it is a kind of step: what only needs that may need it for the look
            alone.
    """

    contract: str
    without: Rewriting = field(compare=False, repr=False)
    name: str = ""
    whole_step: bool = False

    @property
    def words(self) -> str:
        """What it is called in reports."""
        if self.name:
            return self.name
        return f"what {self.contract} is about" if self.contract else "two steps at once"
