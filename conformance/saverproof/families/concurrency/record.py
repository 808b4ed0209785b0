"""What an item has seen: how often each contract was judged, and the plainest breach of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from saverproof.families.concurrency.records import Event


@dataclass(frozen=True, slots=True)
class Problem:
    """A broken contract, and the events that show it. ``stacks`` is where everyone stood."""

    contract: str
    summary: str
    expected: str
    observed: str
    events: tuple[Event, ...] = ()
    steps: tuple[str, ...] = ()
    """What was done, where there are no events."""
    stacks: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A problem and the scene that showed it, as plain data."""

    problem: Problem
    scene: dict[str, Any]


@dataclass(slots=True)
class Record:
    """What all scenes of an item came to."""

    checked: Counter[str] = field(default_factory=Counter)
    found: dict[str, Sighting] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    """Contract -> how many scenes showed it broken."""
    unknown: dict[str, str] = field(default_factory=dict)
    scenes: Counter[str] = field(default_factory=Counter)
    operations: int = 0
    raised: Counter[str] = field(default_factory=Counter)
    """Errors that are advice, and how often each was raised."""
    notes: list[str] = field(default_factory=list)

    def saw(self, problems: Sequence[Problem], scene: dict[str, Any]) -> None:
        """Keep what a scene showed; of several breaches of a contract, the plainest."""
        for contract in {problem.contract for problem in problems}:
            self.seen[contract] += 1
        for problem in problems:
            kept = self.found.get(problem.contract)
            if kept is None or _length(problem) < _length(kept.problem):
                self.found[problem.contract] = Sighting(problem, scene)

    def note(self, text: str) -> None:
        """Keep a line for the report, once."""
        if text not in self.notes:
            self.notes.append(text)

    def as_data(self) -> dict[str, Any]:
        """For the report."""
        return {
            "scenes": dict(self.scenes),
            "operations": self.operations,
            "raised": dict(self.raised.most_common(10)),
            "broken_in": dict(self.seen),
            "notes": self.notes,
        }


def _length(problem: Problem) -> int:
    return len(problem.events) or len(problem.steps)
