"""Says in a sentence what differs, for a reader who does not know the kit."""

from __future__ import annotations

from typing import Any

from saverproof.judging.facts import HANG, OWN, Difference, Raised
from saverproof.programs.values import show


def fact_in_words(difference: Difference) -> str:
    """Return what is wrong, without where."""
    if difference.kind is OWN:
        return _own(difference.observed)
    if isinstance(difference.observed, Raised):
        return f"a call raised {type(difference.observed.error).__name__}"
    return difference.kind.words.format(detail=difference.detail) or difference.fact


def _own(observed: Any) -> str:
    """Return what an author's rule or invariant complained of."""
    error = getattr(observed, "error", None)
    first, *_ = str(error).split("\n")
    return first if isinstance(error, AssertionError) and first else f"it {observed}"


def shown(difference: Difference, width: int) -> tuple[str, str]:
    """Return what was expected and what was observed, each cut to ``width`` characters."""
    return _text(difference.expected, difference, width), _text(
        difference.observed, difference, width
    )


def _text(value: Any, difference: Difference, width: int) -> str:
    if isinstance(value, Raised):
        return str(value)[:width]
    # If a call raised or never returned, the expectation is a text already.
    in_words = isinstance(difference.observed, Raised) or difference.kind.name == HANG
    if in_words and isinstance(value, str):
        return value[:width]
    return show(value, width)
