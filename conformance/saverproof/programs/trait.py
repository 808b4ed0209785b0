"""Traits of programs. A program may need a trait to show a difference, and a trait can be taken
out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from saverproof.programs.steps.definitions import Program

Rewriting: TypeAlias = Callable[[Program], Program]


@dataclass(frozen=True, slots=True)
class Trait:
    """Something about a program: a kind of value, a field of a step, a relation between steps.

    Attributes:
        contract: the contract that is about it; empty if there is none.
        without: gives the program without it, or unchanged if the program has nothing of it.
        name: its name in reports; by default, what its contract is about.
        whole_step: whether it is a kind of step. A program may need such a step only as a look.
    """

    contract: str
    without: Rewriting = field(compare=False, repr=False)
    name: str = ""
    whole_step: bool = False

    @property
    def words(self) -> str:
        """The trait's name in reports."""
        if self.name:
            return self.name
        return f"what {self.contract} is about" if self.contract else "two steps at once"
