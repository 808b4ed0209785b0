"""What an item has seen: how often each contract was judged, and the plainest breach of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.concurrency.records import TimedCall
from saverproof.families.tally import Tally, keep_plainest


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

    @property
    def is_an_error(self) -> bool:
        """Whether it is no more than that the last of the calls raised, or was never answered."""
        return bool(self.stacks) or any(event.error is not None for event in self.events[-1:])


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """A problem and the scene that showed it, as plain data."""

    problem: Problem
    scene: dict[str, Any]

    @property
    def rank(self) -> tuple[int, ...]:
        """Lower for what is shorter to tell."""
        return (len(self.problem.events) or len(self.problem.steps),)


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

    def saw(self, problems: Sequence[Problem], scene: dict[str, Any]) -> None:
        """Keep what a scene showed; of several breaches of a contract, the plainest."""
        for contract in {problem.contract for problem in problems}:
            self.seen[contract] += 1
        for problem in problems:
            self.tally.differences.note(problem.contract)
            keep_plainest(self.found, problem.contract, ShownProblem(problem, scene))

    def as_data(self) -> dict[str, Any]:
        """For the report."""
        return {
            "scenes": dict(self.scenes),
            "operations": self.tally.operations,
            "raised": dict(self.raised.most_common(10)),
            "broken_in": dict(self.seen),
            "notes": self.tally.notes,
        }
