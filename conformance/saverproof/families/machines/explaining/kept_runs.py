"""Keeps runs of programs, and counts how well mistakes explain them all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from saverproof.families.machines.explaining.prediction import Compared, Predictor, compare
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.mistakes import Mistake

_MOST_KEPT = 24
"""The most runs of each kind that are kept. More runs would tell nothing new."""
_LONGEST_KEPT = 60
"""The most steps of a run that is kept. Longer runs take more time than they are worth."""

Against = Callable[[Compared], int]
"""Counts how many breaches speak against mistakes: they predict them, and none was seen."""


def missed(compared: Compared) -> int:
    """Return how many breaches were predicted and not seen."""
    return compared.missed


def undisputed(compared: Compared) -> int:
    """Return the missed breaches, except those in whose place another breach was seen.

    A saver may have two mistakes that change the same writes. Neither of them alone then predicts
    what is shown.
    """
    return compared.missed - compared.disputed


@dataclass(slots=True)
class KeptRuns:
    """Runs that decide between mistakes that predict one program alike.

    ``right`` are runs without a breach, ``wrong`` are runs with one.
    """

    predictor: Predictor
    right: list[ProgramRun] = field(default_factory=list)
    wrong: list[ProgramRun] = field(default_factory=list)

    def note(self, run: ProgramRun) -> None:
        """Keep a run, unless enough runs of its kind are kept or it is long."""
        kept = self.wrong if run.breaches else self.right
        if len(kept) < _MOST_KEPT and len(run.program) <= _LONGEST_KEPT:
            kept.append(run)

    def keep_wrong(self, run: ProgramRun) -> None:
        """Keep a run with a breach, however many are kept."""
        if all(run is not kept for kept in self.wrong):
            self.wrong.append(run)

    def compared(self, run: ProgramRun, mistakes: Sequence[Mistake]) -> Compared:
        """Compare what a run showed with what ``mistakes`` predict of it."""
        if not mistakes:
            return compare(run, None)
        # Comparisons are kept: the same runs are compared again and again.
        known: dict[tuple[str, ...], Compared] = run.notes.setdefault("compared", {})
        names = tuple(each.name for each in mistakes)
        if names not in known:
            known[names] = compare(run, self.predictor.predict(run, mistakes))
        return known[names]

    def score(
        self,
        mistakes: Sequence[Mistake],
        to_beat: float = -math.inf,
        against: Against = missed,
    ) -> int:
        """Count the breaches of the runs that ``mistakes`` predict, less those that speak against
        them.

        Runs on a saver with these mistakes take most of the time. So stop as soon as the count
        cannot exceed ``to_beat`` any more, and return what it could still have reached.
        """
        reachable = sum(len(run.breaches) + len(run.masked) for run in self.wrong)
        for run in (*self.wrong, *self.right):
            if reachable <= to_beat:
                break
            compared = self.compared(run, mistakes)
            reachable += len(compared.predicted) - against(compared)
            if run.breaches:
                reachable -= len(run.breaches) + len(run.masked)
        return reachable

    def fit(self, mistakes: Sequence[Mistake], known: Sequence[Mistake]) -> bool:
        """Return whether ``mistakes`` predict the runs at least as well as the ``known`` ones
        do.
        """
        least = self.score(known)
        return self.score(mistakes, to_beat=least - 1) >= least
