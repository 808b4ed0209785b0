"""Finds what differs in a graph, its thread or its copy because an operation on whole threads was
called beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from saverproof.families.graph.comparing import differing_part
from saverproof.families.graph.runner import Observation, ends_in_error
from saverproof.programs.values import same, show

GRAPH, COPY = "the graph", "the copy"
GONE_ON, RESUMED = "with the copy", "with a copy of the middle of a step"
"""Where a difference shows: in the graph, in the copy of its thread, or in a graph that goes on
with such a copy.
"""
_WIDTH = 600


@dataclass(frozen=True, slots=True)
class PlayDifference:
    """The first difference between two plays: the step, the kind of observation, the path to the
    part that differs, and both values in words.

    ``of`` names what differs. ``raised`` says that the step showed only an error. If a copy was
    resumed, ``copied`` is the step beside which the copy was made, and ``at_rest`` says that a copy
    differs as well if it is made when nothing else runs.
    """

    position: int
    kind: str
    path: str
    expected: str
    observed: str
    of: str = GRAPH
    raised: bool = False
    copied: int | None = None
    at_rest: bool = False


def first_difference(
    alone: Sequence[Observation], seen: Sequence[Observation]
) -> PlayDifference | None:
    """Return the first difference between a graph beside an operation and the same graph alone.

    A step that raised is no difference: the saver may report that a lock took too long. What is
    lost shows later, when nothing else runs.
    """
    differ = _first_that_differs(alone, seen)
    return None if differ is None or ends_in_error(differ[1]) else _difference(*differ)


def difference_at_rest(
    alone: Sequence[Observation], seen: Sequence[Observation]
) -> PlayDifference | None:
    """Return the first difference when nothing else runs. A step that raises then counts as a
    difference, too.
    """
    differ = _first_that_differs(alone, seen)
    if differ is None:
        return None
    return replace(_difference(*differ), of=GONE_ON, raised=ends_in_error(differ[1]))


def first_error(
    alone: Sequence[Observation], seen: Sequence[Observation]
) -> tuple[int, str] | None:
    """Return the step and its error if the first difference is a step that raised. Nothing after it
    is compared.
    """
    differ = _first_that_differs(alone, seen)
    if differ is None or not ends_in_error(differ[1]):
        return None
    return differ[1].position, str(differ[1].value)


def _difference(wanted: Observation, found: Observation) -> PlayDifference:
    path, expected, observed = differing_part(wanted.value, found.value)
    return PlayDifference(
        wanted.position, wanted.kind, path, show(expected, _WIDTH), show(observed, _WIDTH)
    )


def _first_that_differs(
    alone: Sequence[Observation], seen: Sequence[Observation]
) -> tuple[Observation, Observation] | None:
    pairs = zip(alone, seen, strict=False)
    return next(((one, two) for one, two in pairs if not same(one.value, two.value)), None)
