"""Whether a violation shows each time that its program is run, or hangs on timing."""

from collections.abc import Mapping
from typing import Any

BY_TIMING = frozenset({"concurrency", "crash", "graph"})
"""Phases in which threads, tasks and processes take turns that are never quite the same again."""


def is_steady(violation: Mapping[str, Any]) -> bool:
    """Whether a violation, or a finding, was seen as often as it was looked for. In the phases that
    hang on timing only a script can say so, which was run more than once.
    """
    if violation.get("showed"):
        return False
    return violation["phase"] not in BY_TIMING or bool(violation.get("reproducer"))


def artefact_is_steady(artefact: Mapping[str, Any]) -> bool:
    """The same of what an artefact records; older ones do not say, and go by their phase."""
    steady: bool = artefact.get("steady", artefact["phase"] not in BY_TIMING)
    return steady
