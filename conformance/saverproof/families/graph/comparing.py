"""Compare a run with the same run on InMemorySaver, and blame a contract for each difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from saverproof.families.graph.runner import NODES, RESULT, WRITES, Observation, raised
from saverproof.families.graph.scenarios import FUNCTIONAL, REPLAY, SAME, GraphScenario
from saverproof.programs.model.store import ROOT
from saverproof.programs.values import same, show

_TOLD_APART = 2_000
"""How many characters of each item count when the items of two lists are sorted for a
comparison.
"""


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """Something that differs from InMemorySaver after the step at ``position``.

    ``kind`` is the kind of observation. ``contract`` is the one that the difference breaks.
    ``path`` leads to the part that differs; ``expected`` and ``observed`` are that part. ``whole``
    is all that was observed.
    """

    contract: str
    position: int
    kind: str
    path: str
    expected: Any
    observed: Any
    whole: Any


@dataclass(frozen=True, slots=True)
class GraphComparison:
    """The result of a comparison.

    ``steps`` counts those judged for the scenario's own contract. ``differences`` has the first one
    for each contract.
    """

    steps: int
    differences: Mapping[str, GraphDifference]


def compare(
    scenario: GraphScenario, expected: Sequence[Observation], observed: Iterable[Observation]
) -> GraphComparison:
    """Compare observations in order, until nothing more can be said about the scenario's
    contract.
    """
    differences: dict[str, GraphDifference] = {}
    judged = set()
    for wanted, found in zip(expected, observed, strict=False):
        contract = blamed(scenario, wanted)
        if contract == scenario.contract:
            judged.add(wanted.position)
        value = _in_namespaces_listed(wanted, found)
        if contract in differences or same(value, found.value):
            continue
        parts = differing_part(value, found.value)
        differences[contract] = GraphDifference(
            contract, wanted.position, wanted.kind, *parts, whole=found.value
        )
        # After a replay from something else than expected nothing can be said of the replay.
        if contract == scenario.contract or scenario.contract == REPLAY:
            break
    return GraphComparison(len(judged), differences)


def _in_namespaces_listed(wanted: Observation, found: Observation) -> Any:
    """Return what is expected. If the saver's listings show only the root namespace, leave the
    others out.

    LangGraph names a namespace when it lists, but the look at pending writes names none. A listing
    without subgraphs is therefore no difference here.
    """
    if wanted.kind == WRITES and isinstance(found.value, dict) and set(found.value) == {ROOT}:
        return {ROOT: wanted.value.get(ROOT)} if ROOT in wanted.value else wanted.value
    return wanted.value


def blamed(scenario: GraphScenario, seen: Observation) -> str:
    """Return the contract that is broken if this observation differs.

    A difference in what is stored always breaks graph/same-run. The other contracts promise what a
    call returns and which nodes it executes; the contract on replays does so from the first replay
    on.
    """
    if scenario.contract == SAME or seen.kind not in (RESULT, NODES):
        return SAME
    if scenario.contract == FUNCTIONAL or seen.position >= scenario.first_replay:
        return scenario.contract
    return SAME


def differing_part(expected: Any, observed: Any) -> tuple[str, Any, Any]:
    """Return the differing part as :func:`narrowed` does. If either value is an exception, return
    both as a whole, since a part of the result would not say which exception it was.
    """
    if raised(expected) or raised(observed):
        return "", expected, observed
    return narrowed("", expected, observed)


def narrowed(path: str, expected: Any, observed: Any) -> tuple[str, Any, Any]:
    """Return the path of the innermost part that holds the whole difference, and both values
    there.
    """
    if isinstance(expected, dict) and isinstance(observed, dict):
        pairs = [
            (f"[{key!r}]", expected.get(key, _ABSENT), observed.get(key, _ABSENT))
            for key in [*expected, *(key for key in observed if key not in expected)]
        ]
    elif isinstance(expected, list | tuple) and type(expected) is type(observed):
        if len(expected) != len(observed):
            return path, expected, observed
        pairs = [
            (f"[{index}]", wanted, found)
            for index, (wanted, found) in enumerate(zip(expected, observed, strict=True))
        ]
    else:
        return path, expected, observed
    for place, wanted, found in pairs:
        if not same(wanted, found):
            return narrowed(path + place, wanted, found)
    return path, expected, observed


def reordered(expected: Any, observed: Any) -> bool:
    """Return whether two values differ only in the order of what their lists hold."""
    return same(_in_order(expected), _in_order(observed))


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return sorted(map(_in_order, value), key=partial(show, width=_TOLD_APART))
    return value


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()
