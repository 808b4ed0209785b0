"""A little of everything, for right savers that are judged in all families."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator
from itertools import islice

import pytest

from saverproof.families.cost import effort as costs
from saverproof.families.cost import family as cost_family
from saverproof.families.cost import reporting
from saverproof.families.cost.questions import STORES
from saverproof.families.functional import effort as functional
from saverproof.families.functional import judging as functional_judging
from saverproof.families.graph import family as graphs
from saverproof.families.graph.scenarios import SCENARIOS
from saverproof.families.items import Outcome
from saverproof.families.machines.registry import MACHINES
from saverproof.families.resources import effort as resources
from saverproof.families.resources import family as resources_family
from saverproof.families.resources.work import WORKS
from saverproof.programs.axes.crossing import crossing
from saverproof.programs.steps.definitions import Program

PARTS = 8
"""Of the programs in which the points of axes come together."""
_THIRDS = 3
"""Of those that each machine enumerates, of the graphs, and of what grows or is repeated."""


def judge_a_little(
    turn: int, monkeypatch: pytest.MonkeyPatch, turn_in: Callable[[str], int] | None = None
) -> None:
    """Have the quick profile take no more programs and graphs than have once accused right savers.

    Of those that are enumerated each turn takes a part, and all turns together take all.
    ``turn_in`` gives the turn in a family, where not all savers are judged in each family.
    """

    def part(family: str, able: Collection[str], *, heavy: bool) -> Iterator[Program]:
        number = turn if turn_in is None else turn_in(family)
        return islice(crossing(family, able, heavy=heavy), number % PARTS, None, PARTS)

    monkeypatch.setattr(functional_judging, "crossing", part)
    for machine in MACHINES.values():
        monkeypatch.setattr(machine, "examples", machine.examples[turn % _THIRDS :: _THIRDS])
    monkeypatch.setattr(graphs, "SCENARIOS", SCENARIOS[turn % _THIRDS :: _THIRDS])
    monkeypatch.setattr(cost_family, "STORES", STORES[turn % _THIRDS :: _THIRDS])
    works = dict(list(WORKS.items())[turn % _THIRDS :: _THIRDS])
    monkeypatch.setattr(resources_family, "WORKS", works)
    monkeypatch.setattr(costs, "FACTOR", 2)
    monkeypatch.setitem(costs._LARGEST, "quick", 64)
    # Advice that is not followed needs no script.
    monkeypatch.setattr(reporting, "reproducer", lambda target, broken, api: "")
    monkeypatch.setitem(resources._TIMES, "quick", (10, 20, 40))
    monkeypatch.setitem(resources._OPENINGS, "quick", (4, 8, 12))
    programs = dataclasses.replace(functional.EFFORTS["quick"], steps=150, examples=0)
    monkeypatch.setitem(functional.EFFORTS, "quick", programs)


def accusations_in(
    outcome: Outcome, advice: Collection[str] = (), unjudged: Collection[str] = ()
) -> list[str]:
    """What a saver is accused of, and what was not judged although nothing stands in the way."""
    found = [
        f"{finding.contract}: {finding.summary}, expected {finding.expected}, "
        f"observed {finding.observed}, by {'; '.join(finding.steps)}"
        for finding in outcome.findings
        if finding.contract not in advice
    ]
    unknown = [
        f"{name} is unknown: {why}" for name, why in outcome.unknown.items() if name not in unjudged
    ]
    return [*found, *unknown]
