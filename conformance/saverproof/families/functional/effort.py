"""The amount of work in each profile, as counts of steps and programs and not as time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProgramMaker(StrEnum):
    """The makers of an item's programs. `make ablation` says what each catches alone."""

    ENUMERATED = "enumerated"
    """Programs written down with the machine: finite sets, point by point."""
    CROSSED = "crossed axes"
    """The points of the axes, brought together two by two."""
    SCRIPTED = "scripted themes"
    """Themes with one program each."""
    RANDOM = "random driver"
    """Programs drawn step by step, by theme."""
    HYPOTHESIS = "Hypothesis"
    """Programs drawn by Hypothesis, by theme."""
    MISTAKES = "known mistakes"
    """The shortest program of each known mistake, for savers that differed before."""


EVERY_MAKER = frozenset(ProgramMaker)


@dataclass(frozen=True, slots=True)
class ProgramEffort:
    """The amount of work for one item.

    ``steps`` are divided among the themes of a family. ``examples`` is the number of Hypothesis's
    programs of each theme. ``bulk`` adds programs with thousands of checkpoints or writes,
    ``heavy`` the points of axes that take seconds. ``makers`` are those that make programs.
    """

    steps: int
    examples: int
    bulk: bool
    heavy: bool
    makers: frozenset[ProgramMaker] = EVERY_MAKER


EFFORTS = {
    "quick": ProgramEffort(steps=300, examples=1, bulk=False, heavy=False),
    "default": ProgramEffort(steps=500, examples=2, bulk=True, heavy=True),
    "deep": ProgramEffort(steps=10_000, examples=40, bulk=True, heavy=True),
}
"""Profile -> the amount of work: quick for every push, default for merges, deep for nights
(docs/time.md has what they take).
"""
