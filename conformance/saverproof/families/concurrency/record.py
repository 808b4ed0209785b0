"""Records what an item has seen: how often each contract was judged, and the plainest breach of
each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.concurrency.callers.records import TimedCall, lines_of
from saverproof.families.tally import Tally, hidden, keep_plainest

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken contract, and the events that show it. ``stacks`` has the stack of every thread."""

    contract: str
    summary: str
    expected: str
    observed: str
    events: tuple[TimedCall, ...] = ()
    steps: tuple[str, ...] = ()
    """The steps that led to the problem, where there are no events."""
    stacks: str = ""
    behind: str = ""
    """The contract from whose breach the problem may follow; "" if the contract table alone says
    which.
    """

    @property
    def sort(self) -> str:
        """The kind of problem, in words that leave out the place, the task, and the details of an
        error.
        """
        return _NUMBER.sub("#", self.summary.partition(", at ")[0].partition(": ")[0])


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem and the scene that showed it, as plain data."""

    problem: Problem
    scene: dict[str, Any]

    @property
    def rank(self) -> tuple[int, ...]:
        """A sort key: lower for a problem that follows from no other, and for one with fewer
        events.
        """
        return (
            bool(self.problem.behind),
            len(self.problem.events) or len(self.problem.steps),
        )


@dataclass(slots=True)
class SceneRecord:
    """The results of all scenes of an item, beside the tally."""

    tally: Tally
    found: dict[str, ShownProblem] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    """How many scenes showed each contract broken."""
    scenes: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    """How often each error was raised that is no breach."""
    refused: set[str] = field(default_factory=set)
    """The contracts that could not be judged to the end, because the saver refused a call of a
    graph.
    """
    hung: set[str] = field(default_factory=set)
    """Contracts that are broken because callers hung. Other callers would hang as long, so they are
    not played.
    """

    def saw(self, problems: Sequence[Problem], scene: dict[str, Any]) -> None:
        """Record what a scene showed. Of several breaches of a contract, the plainest is kept."""
        for contract in {problem.contract for problem in problems}:
            self.seen[contract] += 1
        for problem in problems:
            self.tally.differences.note(problem.contract)
            keep_plainest(self.found, problem.contract, ShownProblem(problem, scene))

    def is_complete(self, contracts: Collection[str]) -> bool:
        """Return whether all of these contracts that the run asks for were found broken."""
        return self.tally.wanted.intersection(contracts) <= self.found.keys()

    def skips(self, contract: str, what: str) -> bool:
        """Return whether callers of this kind are known to hang. If so, record that no scene of
        ``what`` is played.
        """
        if contract in self.hung:
            self.tally.note(f"no {what} were played: such callers hang, which is enough to know")
        return contract in self.hung

    def saw_alone(self, problems: Sequence[Problem], behind: Collection[str]) -> None:
        """Record problems that are seen with a single caller, too. They count as breaches of the
        contracts ``behind`` them; if ``behind`` is empty, it is not known which contracts are
        broken.
        """
        differences = self.tally.differences
        for problem in problems:
            broken = min(behind, default=problem.contract)
            differences.note(broken)
            shown = problem.steps or lines_of(problem.events)
            differences.examples[broken] = min(
                differences.examples.get(broken, shown), shown, key=len
            )
            if behind:
                why = f"one caller alone is shown the same ({problem.sort})"
                names = sorted(behind)
                self.tally.hide([problem.contract], hidden(why, ", ".join(names)), names)

    def as_data(self) -> dict[str, Any]:
        """Return the results as data for the report."""
        return {
            "scenes": dict(self.scenes),
            "operations": self.tally.operations,
            "raised": dict(self.raised.most_common(10)),
            "broken_in": dict(self.seen),
            "notes": self.tally.notes,
        }
