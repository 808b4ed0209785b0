"""What an item has seen: how often each contract was judged, and the plainest breach of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.concurrency.records import TimedCall, lines_of
from saverproof.families.tally import Tally, hidden, keep_plainest

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken contract, and the events that show it. ``stacks`` is where everyone stood."""

    contract: str
    summary: str
    expected: str
    observed: str
    events: tuple[TimedCall, ...] = ()
    steps: tuple[str, ...] = ()
    """What was done, where there are no events."""
    stacks: str = ""
    behind: str = ""
    """A contract from whose breach this may follow; "" if from none but those of the table."""

    @property
    def sort(self) -> str:
        """What is wrong, wherever it is, with whichever task, and whatever an error says."""
        return _NUMBER.sub("#", self.summary.partition(", at ")[0].partition(": ")[0])


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem and the scene that showed it, as plain data."""

    problem: Problem
    scene: dict[str, Any]

    @property
    def rank(self) -> tuple[int, ...]:
        """Lower for what stands by itself, and for what is shorter to tell."""
        return (
            bool(self.problem.behind),
            len(self.problem.events) or len(self.problem.steps),
        )


@dataclass(slots=True)
class SceneRecord:
    """What all scenes of an item came to, beside the tally."""

    tally: Tally
    found: dict[str, ShownProblem] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    """Contract -> how many scenes showed it broken."""
    scenes: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    """Errors that are advice, and how often each was raised."""
    refused: set[str] = field(default_factory=set)
    """Contracts of which a graph would have told more, had it not been refused a call."""
    hung: set[str] = field(default_factory=set)
    """Contracts that callers broke by hanging: others would hang, and be waited for as long."""

    def saw(self, problems: Sequence[Problem], scene: dict[str, Any]) -> None:
        """Keep what a scene showed; of several breaches of a contract, the plainest."""
        for contract in {problem.contract for problem in problems}:
            self.seen[contract] += 1
        for problem in problems:
            self.tally.differences.note(problem.contract)
            keep_plainest(self.found, problem.contract, ShownProblem(problem, scene))

    def is_complete(self, contracts: Collection[str]) -> bool:
        """Return whether every one of these that is asked for was found broken."""
        return self.tally.wanted.intersection(contracts) <= self.found.keys()

    def skips(self, contract: str, what: str) -> bool:
        """Return whether callers of this kind are known to hang; then note that nothing is played
        of ``what``.
        """
        if contract in self.hung:
            self.tally.note(f"no {what} were played: such callers hang, which is enough to know")
        return contract in self.hung

    def saw_alone(self, problems: Sequence[Problem], behind: Collection[str]) -> None:
        """Take in what one caller alone is shown as well: it breaks the contracts ``behind`` it, or
        nobody knows which.
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
        """For the report."""
        return {
            "scenes": dict(self.scenes),
            "operations": self.tally.operations,
            "raised": dict(self.raised.most_common(10)),
            "broken_in": dict(self.seen),
            "notes": self.tally.notes,
        }
