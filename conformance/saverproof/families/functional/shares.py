"""Count the programs and steps of an item by who made them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from saverproof.families.machines.explaining.trials import ProgramRun

RANDOM, HYPOTHESIS = "random", "hypothesis"
DIRECTED, REMEMBERED, PINNED = "directed", "remembered", "pinned"
"""Makers that draw nothing: programs written down with the machine, kept from an earlier run, and
pinned by the author of the target.
"""


@dataclass(slots=True)
class ProgramShares:
    """Programs and steps by maker. Repeated runs for a closer look are not counted."""

    programs: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)

    def note(self, made_by: str, run: ProgramRun) -> None:
        """Count a program that was run."""
        self.programs[made_by] += 1
        self.steps[made_by] += len(run.program)

    def as_data(self) -> dict[str, dict[str, int]]:
        """Return the ``programs`` section of an item."""
        return {
            made_by: {"programs": times, "steps": self.steps[made_by]}
            for made_by, times in self.programs.items()
        }
