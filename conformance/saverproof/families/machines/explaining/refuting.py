"""Finds chosen mistakes that later runs speak against.

A mistake is chosen by the few runs that are kept by then, and may change more than the saver gets
wrong. What it then wrongly explains hides what the saver really does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from saverproof.families.machines.explaining.diagnosis import Diagnosis
from saverproof.families.machines.explaining.differences import calls_in
from saverproof.families.machines.explaining.prediction import compare
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.mistakes import Mistake

_MOST_STEPS = 8_000
"""The most steps that an item may take to compare right runs: about a second."""
_LONGEST = 60
"""The most calls of a run that is compared. A mistake that shows in longer ones alone is rare."""


@dataclass(slots=True)
class Refuting:
    """All runs of a search without a breach, by which chosen mistakes are refuted.

    Runs with a breach are not used: in such a run, an unknown flaw may hide what the mistake would
    show.
    """

    right: list[ProgramRun] = field(default_factory=list)

    def note(self, run: ProgramRun) -> None:
        """Keep a run that showed nothing wrong, unless it is long."""
        if not run.breaches and not run.masked and calls_in(run.program) <= _LONGEST:
            self.right.append(run)

    def refuted(self, diagnosis: Diagnosis) -> set[Mistake]:
        """Return the chosen mistakes that right runs refute.

        The chosen mistakes together predict a breach of such a run. The mistake refuted is the one
        without which they predict fewer breaches, and the fewest.
        """
        predictor, found = diagnosis.predictor, set[Mistake]()
        before = predictor.steps
        for run in sorted(self.right, key=lambda run: calls_in(run.program)):
            if found.issuperset(diagnosis.mistakes) or predictor.steps - before > _MOST_STEPS:
                break
            found |= _refuted_by(run, diagnosis)
        # These steps do not count for the search for mistakes, which has a limit of its own.
        predictor.steps = before
        return found


def drop(diagnosis: Diagnosis, refuted: Collection[Mistake]) -> None:
    """Drop chosen mistakes that right runs refute. They predict nothing any more, and are not
    chosen again. Another mistake may now predict what none did beside them.
    """
    diagnosis.found = [each for each in diagnosis.found if each.mistake not in refuted]
    diagnosis.pool = [each for each in diagnosis.pool if each not in refuted]
    memory = diagnosis.memory
    memory.found = [each for each in memory.found if each.mistake not in refuted]
    memory.in_vain.clear()


def _refuted_by(run: ProgramRun, diagnosis: Diagnosis) -> set[Mistake]:
    def missed(mistakes: tuple[Mistake, ...]) -> int:
        return compare(run, diagnosis.predictor.predict(run, mistakes)).missed

    chosen = diagnosis.mistakes
    wrongly = missed(chosen)
    if not wrongly:
        return set()
    left = {one: missed(tuple(each for each in chosen if each is not one)) for one in chosen}
    # Two mistakes may predict a breach only together. The one that is right elsewhere must stay.
    least = min(left.values())
    return {one for one, wrong in left.items() if wrong == least < wrongly}
