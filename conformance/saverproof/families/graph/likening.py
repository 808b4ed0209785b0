"""Finds the known mistakes of savers that explain a difference in a graph."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from saverproof.families.graph.bench import GraphBench, Play
from saverproof.families.graph.comparing import GraphComparison, GraphDifference, reordered
from saverproof.families.graph.runner import Observation
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.programs import met_by_graphs
from saverproof.programs.values import same
from saverproof.savers.workspace import Workspace


def mistakes_alike(bench: GraphBench, play: Play, difference: GraphDifference) -> tuple[str, ...]:
    """Return the notes of the mistakes that show this very difference in a play.

    A saver with only that mistake behaves in this play as the saver under test does, so the
    difference needs no other cause. Ids differ from run to run, and an order may follow from them:
    so two differences in order count as the same if the same list is reordered in both.
    """
    expected = bench.expected(play)
    found = []
    for mistake in MISTAKES:
        if mistake.name not in met_by_graphs() or bench.plan.api not in mistake.apis:
            continue
        shown = compared(bench, play, expected, mistake).differences.get(difference.contract)
        if shown is not None and _alike(shown, difference, expected):
            found.append(mistake.note)
    return tuple(dict.fromkeys(found))


def compared(
    bench: GraphBench, play: Play, expected: list[Observation], mistake: Mistake
) -> GraphComparison:
    """Play on a saver with one mistake, and compare it with what was expected."""
    # The reference saver keeps all it stores in memory: the folder is only a name.
    name = f"sp_{secrets.token_hex(8)}"
    workspace = Workspace(Path(bench.plan.folder) / name, name)
    try:
        with mistake.make(workspace) as saver:
            return bench.played_on(saver, play, expected)
    finally:
        mistake.drop(workspace)


def _alike(one: GraphDifference, other: GraphDifference, expected: Iterable[Observation]) -> bool:
    if (one.position, one.kind) != (other.position, other.kind):
        return False
    if one.path == other.path and same(one.whole, other.whole):
        return True
    at = (one.position, one.kind)
    wanted = next(each.value for each in expected if (each.position, each.kind) == at)
    lists = {each.path.rpartition("[")[0] for each in (one, other)}
    return len(lists) == 1 and all(reordered(wanted, each.whole) for each in (one, other))
