"""Finds known mistakes that a saver might make although no run has shown them.

One flaw may hide another: if a listing raises, nobody sees its order. A run rules a mistake out if
it would have shown the mistake, and what the mistake would change was looked at and was right. The
contract of a mistake that no run rules out does not count as held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from saverproof.families.machines.explaining.diagnosis import Diagnosis
from saverproof.families.machines.explaining.prediction import (
    Signature,
    compare,
    signature,
    signatures,
)
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.judging import facts
from saverproof.judging.facts import OF_WRITES, Raised
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake

_MOST_STEPS = 20_000
"""The most steps that may be taken to rule mistakes out: two or three seconds."""
_OF_ALL = frozenset(
    {facts.MISSING, facts.EXTRA, facts.UNREADABLE, facts.MALFORMED, facts.ADDRESS, facts.LATEST}
)
"""Facts about a whole answer. If one of them differs, nothing else of the answer is compared."""


@dataclass(slots=True)
class Hiding:
    """A search for mistakes that no run rules out."""

    diagnosis: Diagnosis
    _spent: int = 0

    def hides(self, mistake: Mistake, own: ProgramRun) -> bool:
        """Return whether no run rules out a mistake: neither its ``own`` program's, nor a kept one.

        Return False for a mistake that its own program does not show here.
        """
        alone = self._with(own, mistake)
        if alone is None or not alone.breaches:
            return False
        if _shows(own, alone):
            # It was taken for another mistake, and nothing was said of this one's contract.
            return not any(_refutes(run, self._with(run, mistake)) for run in self._kept())
        combined = self._combined(mistake, own, alone)
        if self._tells(own, alone, combined):
            return False
        kept = self._kept()
        return not any(self._tells(run, self._with(run, mistake), combined) for run in kept)

    @property
    def _found(self) -> tuple[Mistake, ...]:
        return self.diagnosis.mistakes

    def _kept(self) -> Iterator[ProgramRun]:
        for run in (*self.diagnosis.kept.right, *self.diagnosis.kept.wrong):
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

    def _combined(
        self, mistake: Mistake, own: ProgramRun, alone: ProgramRun
    ) -> list[Sequence[Mistake]]:
        """Return the mistakes found together with this one: once with this one first, once with it
        last.

        An order is left out if this mistake has no effect in it on the ``own`` program: the saver
        cannot have the mistakes in that order.
        """
        if not self._found or mistake in self._found:
            return []
        orders = ((*self._found, mistake), (mistake, *self._found))
        together = [(each, run) for each in orders if (run := self._with(own, *each)) is not None]
        without = self._with(own, *self._found) if _looks(own, alone) else None
        return [each for each, run in together if not _alike(without, run)]

    def _tells(
        self, run: ProgramRun, alone: ProgramRun | None, combined: Sequence[Sequence[Mistake]]
    ) -> bool:
        """Return whether a run decides about a mistake: it shows what the mistake ``alone`` would
        show, or rules it out.

        A run rules the mistake out if it looked where the mistake would show and found nothing
        wrong, or if the mistakes found give the same answers. It decides nothing if one of the
        lists ``combined`` gives the same answers: two mistakes together can answer right what each
        alone answers wrong.
        """
        if alone is None:
            return False
        if not _told(run).isdisjoint(signatures(alone)):
            return True
        if any(_alike(run, self._with(run, *each)) for each in combined):
            return False
        return _looks(run, alone) or bool(combined and _alike(run, self._with(run, *self._found)))


def _alike(run: ProgramRun | None, predicted: ProgramRun | None) -> bool:
    return run is not None and predicted is not None and compare(run, predicted).exact


def _looks(run: ProgramRun, alone: ProgramRun) -> bool:
    """Return whether a run could have shown a mistake: ``alone`` is what a saver with that mistake
    and no other shows.
    """
    return any(_is_looked_at(breach, run) for breach in alone.breaches)


def _is_looked_at(breach: Breach, run: ProgramRun) -> bool:
    """Return whether a run could show a breach, because no other wrong answer was in the way."""
    if (breach.difference.kind, breach.position) in run.blind:
        return False
    return not any(_spoils(other, breach) for other in (*run.breaches, *run.masked))


def _told(run: ProgramRun) -> set[Signature]:
    """Return the signatures of all that a run showed."""
    return {*signatures(run), *map(signature, run.masked)}


def _shows(run: ProgramRun, alone: ProgramRun) -> bool:
    """Return whether a run shows all that a mistake ``alone`` would show."""
    return _told(run).issuperset(signatures(alone))


def _refutes(run: ProgramRun, alone: ProgramRun | None) -> bool:
    """Return whether a run answered right where a mistake ``alone`` would have answered wrong."""
    if alone is None:
        return False
    told = _told(run)
    unseen = (breach for breach in alone.breaches if signature(breach) not in told)
    return any(_is_looked_at(breach, run) for breach in unseen)


def _spoils(other: Breach, breach: Breach) -> bool:
    """Return whether, after one breach, nobody can tell if a later or equal look shows the other
    one.
    """
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
