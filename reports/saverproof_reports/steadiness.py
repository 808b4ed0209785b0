"""Tell violations that show each time from those that depend on timing."""

from collections.abc import Mapping
from typing import Any

BY_TIMING = frozenset({"concurrency", "crash", "graph"})
"""Phases in which threads, tasks or processes take turns, never quite in the same way again."""


def is_steady(violation: Mapping[str, Any]) -> bool:
    """Return whether a violation, or a finding, was seen as often as it was looked for.

    In the phases that depend on timing only a script can say so that was run more than once.
    """
    if violation.get("showed"):
        return False
    return violation["phase"] not in BY_TIMING or bool(violation.get("reproducer"))


def artefact_is_steady(artefact: Mapping[str, Any]) -> bool:
    """Return whether the violation of an artefact shows each time.

    Older artefacts do not say so: their phase decides.
    """
    steady: bool = artefact.get("steady", artefact["phase"] not in BY_TIMING)
    return steady
