"""Plays the recorded program of a graph again."""

from __future__ import annotations

from typing import Any

from langsmith.run_helpers import tracing_context

from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.graph.replaying import replay as play_again
from saverproof.families.graph.runner import MEANING
from saverproof.items import ItemPlan
from saverproof.targets.target import Target
from saverproof.values import show

WIDTH = 1_200


def replay(plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
    """Whether a recorded graph still goes otherwise than on InMemorySaver.

    Raises:
        ValueError: the data is no recorded program.
        OpeningError: the saver could not be opened or closed.
    """
    with tracing_context(enabled=False):
        difference = play_again(plan, target, data)
    if difference is None:
        return ReplayAnswer(Status.FIXED, "the graph does what it does on InMemorySaver")
    return ReplayAnswer(
        Status.FAILING,
        MEANING[difference.kind],
        show(difference.expected, WIDTH),
        show(difference.observed, WIDTH),
    )
