"""What differs in a graph beside which someone tidied up, or in what came of its thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from saverproof.families.graph.comparing import differing_part
from saverproof.families.graph.runner import Observation, ends_in_error
from saverproof.programs.values import same, show

GRAPH, COPY = "the graph", "the copy"
GONE_ON, RESUMED = "with the copy", "with a copy of the middle of a step"
"""In what something differs: the graph itself, the copy of its thread, or a graph that goes on with
such a copy.
"""
_WIDTH = 600


@dataclass(frozen=True, slots=True)
class PlayDifference:
    """What differs first: the step, the kind of observation, the path to the part of it that
    differs, and both in words.

    ``of`` says in what it differs. ``raised`` says that nothing came out but an error. ``copied``
    is the step beside which a copy was made that was resumed, and ``at_rest`` says that one of the
    same thread that was made at rest comes out otherwise, too.
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
    """Return what differs first beside an operation.

    A step that raised says nothing: a lock that is held may have its time. What is lost shows when
    all is quiet.
    """
    differ = _first_that_differs(alone, seen)
    return None if differ is None or ends_in_error(differ[1]) else _difference(*differ)


def difference_at_rest(
    alone: Sequence[Observation], seen: Sequence[Observation]
) -> PlayDifference | None:
    """Return what differs first where nobody is beside it: a step that raises has no excuse."""
    differ = _first_that_differs(alone, seen)
    if differ is None:
        return None
    return replace(_difference(*differ), of=GONE_ON, raised=ends_in_error(differ[1]))


def first_error(alone: Sequence[Observation], seen: Sequence[Observation]) -> str | None:
    """Return what a step raised if it is the first difference: nothing after it is compared."""
    differ = _first_that_differs(alone, seen)
    return str(differ[1].value) if differ is not None and ends_in_error(differ[1]) else None


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
