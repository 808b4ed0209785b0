"""The choices of Hypothesis for a step: a rule, and a seed from which the rule draws."""

from __future__ import annotations

from random import Random

import hypothesis.strategies as st
from hypothesis import Phase

# In wider ranges Hypothesis prefers small numbers, and programs then repeat their steps.
SEEDS = st.integers(0, 2**24 - 1)
"""Seeds from which a rule draws under Hypothesis."""

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""The phases of Hypothesis that machines use.

Shrinking is left out: the kit has shortened a failing program before it reports it. Targeting is
left out: it takes half of the programs, most of which differ in their last steps alone, and so
catches less.
"""


class SeededChoices:
    """The random choices of one program. The choices for a step depend on its seed and on the seeds
    of all steps before it.

    Most programs of Hypothesis repeat an earlier program with a step or two changed. If each step
    were drawn from its own seed alone, all other steps would be the same again.
    """

    def __init__(self) -> None:
        self._so_far = 0

    def of(self, seed: int) -> Random:
        """Return the random choices for the step that has this seed."""
        self._so_far = hash((self._so_far, seed))
        return Random(self._so_far)
