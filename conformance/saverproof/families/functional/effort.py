"""How much is done in each profile. Steps and programs are counted, time is not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """``steps`` are shared out among the themes of a family; ``examples`` are Hypothesis's."""

    steps: int
    examples: int
    bulk: bool


EFFORTS = {
    "quick": Effort(steps=450, examples=2, bulk=False),
    "default": Effort(steps=750, examples=3, bulk=True),
    "deep": Effort(steps=10_000, examples=40, bulk=True),
}
