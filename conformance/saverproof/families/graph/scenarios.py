"""Every scenario, from simple to intricate."""

from __future__ import annotations

from saverproof.families.graph.scenario import (
    ALL_MODES,
    FUNCTIONAL,
    GRAPHS,
    REPLAY,
    SAME,
    GraphScenario,
    maker,
)
from saverproof.families.graph.tables import forks, nested, runs

SCENARIOS: tuple[GraphScenario, ...] = (*runs.SCENARIOS, *forks.SCENARIOS, *nested.SCENARIOS)
"""Every scenario, in the order in which they are played."""


def scenario(name: str) -> GraphScenario:
    """Return the scenario of this name.

    Raises:
        KeyError: there is no such scenario.
    """
    return {one.name: one for one in SCENARIOS}[name]


__all__ = [
    "ALL_MODES",
    "FUNCTIONAL",
    "GRAPHS",
    "REPLAY",
    "SAME",
    "SCENARIOS",
    "GraphScenario",
    "maker",
    "scenario",
]
