"""Finds known mistakes that a saver might make without any run having shown it.

One flaw may hide another: where a listing raises, its order is not seen. A run rules a mistake out
if it would have shown the mistake, and what the mistake would change was looked at and was right. A
mistake that no run rules out keeps its contract from being held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from saverproof.families.machines.diagnosis import Diagnosis
from saverproof.families.machines.prediction import compare, signature, signatures
from saverproof.families.machines.trials import ProgramRun
from saverproof.judging import facts
from saverproof.judging.facts import OF_WRITES, Raised
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake

_MOST_STEPS = 20_000
"""Steps that may be taken to rule mistakes out: two or three seconds."""
_OF_ALL = frozenset(
    {facts.MISSING, facts.EXTRA, facts.UNREADABLE, facts.MALFORMED, facts.ADDRESS, facts.LATEST}
)
"""Facts about a whole answer. Where one of them differs, nothing else of the answer is compared."""


@dataclass(slots=True)
class Hiding:
    """A search for mistakes that nothing which was run rules out."""

    diagnosis: Diagnosis
    _spent: int = 0

    def hides(self, mistake: Mistake, own: ProgramRun) -> bool:
        """Return whether no run rules out a mistake: neither its ``own`` program's, nor a kept one.

        Return False for a mistake that its own program does not show here.
        """
        alone = self._with(own, mistake)
        if alone is None or not alone.breaches:
            return False
        company = self._company(mistake, own)
        if self._tells(own, alone, company):
            return False
        kept = self._kept()
        return not any(self._tells(run, self._with(run, mistake), company) for run in kept)

    @property
    def _found(self) -> tuple[Mistake, ...]:
        return self.diagnosis.mistakes

    def _kept(self) -> Iterator[ProgramRun]:
        for run in (*self.diagnosis.right, *self.diagnosis.wrong):
            if self._spent > _MOST_STEPS:
                return
            yield run

    def _with(self, run: ProgramRun, *mistakes: Mistake) -> ProgramRun | None:
        """Return the run that a saver with these mistakes, and no other, would give."""
        predictor = self.diagnosis.predictor
        before = predictor.steps
        predicted = predictor.predict(run, mistakes)
        self._spent += predictor.steps - before
        # These steps do not count for the search for mistakes, which has a limit of its own.
        predictor.steps = before
        return predicted

    def _company(self, mistake: Mistake, own: ProgramRun) -> list[Sequence[Mistake]]:
        """Return the mistakes found with this one, first or last, where it shows in its ``own``
        program beside them.

        Elsewhere one of them takes the place of this one: a saver cannot have both.
        """
        found = self._found
        if not found or mistake in found:
            return []
        without = self._with(own, *found)
        orders = [(*found, mistake), (mistake, *found)]
        return [each for each in orders if self._differ(without, self._with(own, *each))]

    def _differ(self, one: ProgramRun | None, other: ProgramRun | None) -> bool:
        return one is not None and other is not None and not compare(one, other).exact

    def _tells(
        self, run: ProgramRun, alone: ProgramRun | None, company: Sequence[Sequence[Mistake]]
    ) -> bool:
        """Return whether a run shows what a mistake would, or tells that the saver has it not.

        The latter if the run looked where it would show and found nothing wrong, or if it answers
        like the mistakes found, and otherwise with this one. Two mistakes can answer right
        together what each alone answers wrong, so that the run says nothing if its ``company``
        answers like it.
        """
        if alone is None:
            return False
        seen = [*run.breaches, *run.masked]
        said = {*signatures(run), *map(signature, run.masked)}
        if any(signature(breach) in said for breach in alone.breaches):
            return True
        if any(self._fits(run, self._with(run, *each)) for each in company):
            return False
        looked = any(not any(_spoils(other, breach) for other in seen) for breach in alone.breaches)
        return looked or bool(company and self._fits(run, self._with(run, *self._found)))

    def _fits(self, run: ProgramRun, predicted: ProgramRun | None) -> bool:
        return predicted is not None and compare(run, predicted).exact


def _spoils(other: Breach, breach: Breach) -> bool:
    """Return whether one breach leaves unknown if a later or equal look would show another."""
    one, two = other.difference, breach.difference
    if other.position > breach.position:
        return False
    places = (one.address, two.address)
    if None in places and other.position < breach.position:
        return False
    if None not in places and one.address != two.address:
        return False
    alike = one.fact == two.fact or {one.kind, two.kind} <= OF_WRITES
    return alike or one.kind in _OF_ALL or isinstance(one.observed, Raised)
