"""How much is done in each profile. Steps and programs are counted, time is not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramEffort:
    """``steps`` are shared out among the themes of a family; ``examples`` are Hypothesis's.

    ``bulk`` has thousands of everything at once, ``heavy`` the points of axes that take seconds.
    """

    steps: int
    examples: int
    bulk: bool
    heavy: bool


EFFORTS = {
    "quick": ProgramEffort(steps=300, examples=1, bulk=False, heavy=False),
    "default": ProgramEffort(steps=500, examples=2, bulk=True, heavy=True),
    "deep": ProgramEffort(steps=10_000, examples=40, bulk=True, heavy=True),
}
