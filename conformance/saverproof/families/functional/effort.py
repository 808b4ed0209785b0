"""How much is done in each profile. Steps and programs are counted, time is not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgramEffort:
    """``steps`` are shared out among the themes of a family; ``examples`` are Hypothesis's."""

    steps: int
    examples: int
    bulk: bool


EFFORTS = {
    "quick": ProgramEffort(steps=450, examples=2, bulk=False),
    "default": ProgramEffort(steps=750, examples=3, bulk=True),
    "deep": ProgramEffort(steps=10_000, examples=40, bulk=True),
}
