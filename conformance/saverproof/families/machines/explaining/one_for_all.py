"""Finds one known mistake that explains all that was seen, where several were chosen for it.

Mistakes are chosen one by one, each beside those found before: the first that fits part of what a
saver shows may keep the one out that fits all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from saverproof.families.machines.explaining.diagnosis import Diagnosis
from saverproof.families.machines.explaining.differences import calls_in
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.mistakes import Mistake

_MOST_STEPS = 20_000
"""The most steps that an item may take to compare its runs: about three seconds. One that is not
compared with every wrong run by then is not chosen.
"""
_MOST_OF_RIGHT_RUNS = 8_000
"""The most steps of these that go into right runs, as many as may refute a mistake later."""


@dataclass(slots=True)
class OneForAll:
    """A search for a mistake that predicts every ``wrong`` run exactly, and no breach of a
    ``right`` one.
    """

    diagnosis: Diagnosis
    wrong: Sequence[ProgramRun]
    right: Sequence[ProgramRun]

    def found(self) -> Mistake | None:
        """Return that mistake, or None."""
        predictor = self.diagnosis.predictor
        before = predictor.steps
        try:
            return self._found(before)
        finally:
            # These steps do not count for the search for mistakes, which has a limit of its own.
            predictor.steps = before

    def _found(self, before: int) -> Mistake | None:
        left = _by_length(self.wrong)
        # Almost every mistake fails at one of the shortest runs.
        fitting = self.diagnosis.that_may_show(left[0].breaches) if left else []
        for run in left:
            fitting = [each for each in fitting if self.diagnosis.kept.compared(run, [each]).exact]
            if not fitting or self.diagnosis.predictor.steps - before > _MOST_STEPS:
                return None
        return next((each for each in fitting if self._may_be_made(each)), None)

    def _may_be_made(self, mistake: Mistake) -> bool:
        predictor = self.diagnosis.predictor
        before = predictor.steps
        for run in _by_length(self.right):
            if predictor.steps - before > _MOST_OF_RIGHT_RUNS:
                break
            if self.diagnosis.kept.compared(run, [mistake]).missed:
                return False
        return self.diagnosis.may_be_made(mistake)


def _by_length(runs: Sequence[ProgramRun]) -> list[ProgramRun]:
    return sorted(runs, key=lambda run: calls_in(run.program))
