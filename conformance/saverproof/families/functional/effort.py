"""The amount of work in each profile, as counts of steps and programs, not as time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProgramMaker(StrEnum):
    """The makers of an item's programs; `make ablation` says what each finds that no other does."""

    ENUMERATED = "enumerated"
    """Programs written beside the family's machine, one for each point of a finite set. They find
    savers that confuse names, keys or values that are alike, or that stop at a hundred.
    """
    CROSSED = "crossed axes"
    """The points of the axes, brought together two by two. They find what goes wrong only where
    two unusual things meet: odd times and lists, or delta channels and copies.
    """
    SCRIPTED = "scripted themes"
    """Themes with one program each. They look at what happens once in a store's life, such as the
    first operation, and into files.
    """
    RANDOM = "random driver"
    """Programs drawn step by step, by theme. They find what depends on the order of operations,
    and on arguments that no program was written for.
    """
    HYPOTHESIS = "Hypothesis"
    """Programs drawn by Hypothesis, by theme. One known mistake in 587 needs its two of each theme:
    it has more time in the deep profile, and in authors' machines.
    """
    MISTAKES = "known mistakes"
    """The shortest program of each known mistake: for contracts that no other program has reached,
    and for savers that differed before. They tell apart the flaws of a saver with many.
    """


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
