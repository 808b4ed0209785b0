"""Finds the known mistakes of savers that make a graph come out just as a finding shows it."""

from __future__ import annotations

import secrets
from pathlib import Path

from saverproof.families.graph.bench import GraphBench, Play
from saverproof.families.graph.comparing import GraphComparison, GraphDifference
from saverproof.families.graph.runner import Observation
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.programs import met_by_graphs
from saverproof.programs.values import same
from saverproof.savers.workspace import Workspace


def mistakes_alike(bench: GraphBench, play: Play, difference: GraphDifference) -> tuple[str, ...]:
    """Return the notes of the mistakes that show this very difference in a play.

    A saver with such a mistake alone answers this play as the saver under test did, so that the
    difference needs no other cause.
    """
    expected = bench.expected(play)
    found = []
    for mistake in MISTAKES:
        if mistake.name not in met_by_graphs() or bench.plan.api not in mistake.apis:
            continue
        shown = compared(bench, play, expected, mistake).differences.get(difference.contract)
        if shown is not None and _alike(shown, difference):
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


def _alike(one: GraphDifference, other: GraphDifference) -> bool:
    place = (one.position, one.kind, one.path) == (other.position, other.kind, other.path)
    return place and same(one.whole, other.whole)
