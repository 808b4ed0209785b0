"""What Hypothesis chooses for a step: the rule, and a seed from which the rule draws."""

from __future__ import annotations

from random import Random

import hypothesis.strategies as st
from hypothesis import Phase

# Of ranges of more bits Hypothesis prefers small numbers, and then programs repeat their steps.
SEEDS = st.integers(0, 2**24 - 1)
"""What a rule draws from, under Hypothesis."""

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""The kit has made a failing program short before it tells of it. To climb towards a target takes
half of the programs, most of which differ in their last steps alone, and catches less.
"""


class SeededChoices:
    """The choices of one program: those of a step come from its seed and from all seeds before.

    Most programs of Hypothesis repeat an earlier one with a step or two changed. Drawn from its
    seed alone, each other step would be as it was.
    """

    def __init__(self) -> None:
        self._so_far = 0

    def of(self, seed: int) -> Random:
        """The choices of the step that has this seed."""
        self._so_far = hash((self._so_far, seed))
        return Random(self._so_far)
