"""Makes programs step by step, from the model's state and random choices."""

from __future__ import annotations

from bisect import bisect
from functools import lru_cache
from itertools import accumulate
from random import Random

from saverproof.programs.legality import objection
from saverproof.programs.makers.checkpoints import put
from saverproof.programs.model.store import Model
from saverproof.programs.steps.definitions import Step
from saverproof.programs.theme import Maker, Theme

_TRIES = 6
"""How many makers are asked for a step before a put is made, which is legal at any time."""


def next_step(model: Model, choose: Random, theme: Theme) -> Step:
    """Return the next step of a program of this theme, legal in the model's state."""
    makers, bounds = _table(tuple(theme.weights.items()))
    for _ in range(_TRIES):
        maker = makers[bisect(bounds, choose.randrange(bounds[-1]))]
        step = maker(model, choose, theme)
        if step is not None and objection(step, model) is None:
            return step
    return put(model, choose, theme)


@lru_cache(maxsize=256)
def _table(weights: tuple[tuple[Maker, int], ...]) -> tuple[list[Maker], list[int]]:
    return [maker for maker, _ in weights], list(accumulate(weight for _, weight in weights))
