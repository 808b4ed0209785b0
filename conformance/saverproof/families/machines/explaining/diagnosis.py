"""Finds the known mistakes that together give the same answers as a saver.

For each finding, a mistake is looked for that predicts exactly what the program shows, in addition
to the mistakes known already. Differences that the mistakes predict are proved to come from them.
Any other difference is a further flaw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from saverproof.contracts.tables import isolation
from saverproof.families.machines.explaining.kept_runs import Against, KeptRuns, missed, undisputed
from saverproof.families.machines.explaining.prediction import Compared, Predictor, signature
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.judging.scenes.bulk import Bulk
from saverproof.judging.session import Breach
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.programs import shown

_MOST_STEPS = 20_000
"""The most steps that an item may take to choose mistakes: about three seconds."""
_MOST_UNLIKELY = 8_000
"""The number of steps after which unlikely mistakes are no longer tried. A mistake is unlikely if
its own program shows other facts: few of these fit.
"""
_MOST_TO_REVISE = 5_000
"""The most steps that an item may take to replace mistakes by others. A saver with flaws of its own
shows them in every run, and no other mistake predicts them.
"""
_MOST_ALIKE = 8
"""The most mistakes that predict one program alike and are compared on the kept runs. Further ones
are mostly alike on the kept runs as well.
"""
_MOST_RECALLED = 24
"""The most runs for which other searches are asked what they found. An unknown flaw would ask for
every run.
"""


@dataclass(frozen=True, slots=True)
class Established:
    """A mistake that the saver makes, and the other mistakes that would explain as much."""

    mistake: Mistake
    instead: tuple[Mistake, ...] = ()


@dataclass(slots=True)
class Remembered:
    """The results of an item's searches about a saver.

    Each item begins with nothing: otherwise its verdicts would depend on the items that ran earlier
    in the same process.

    Attributes:
        found: the mistakes that the saver makes.
        told: the contracts that were found broken, and that no known mistake explains.
        in_vain: the kinds of facts, with the contract blamed, that no mistake predicts.
    """

    found: list[Established] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    in_vain: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Fitting:
    """A mistake that fits, its ``order`` among those found before, and the number of breaches that
    are ``left``.
    """

    mistake: Mistake
    order: tuple[Mistake, ...]
    left: int


@dataclass(slots=True)
class Diagnosis:
    """The mistakes found so far, each overriding those before it."""

    predictor: Predictor
    may_be_made: Callable[[Mistake], bool]
    """A function that returns whether a saver may make a mistake: it may not, if it answers the
    mistake's own program as a right saver does.
    """
    pool: Sequence[Mistake] = MISTAKES
    found: list[Established] = field(default_factory=list)
    memory: Remembered = field(default_factory=Remembered)
    """What other searches of the same saver have found. Those searches report it."""
    recalled: int = 0
    """Runs for which ``memory`` was asked."""
    revised: int = 0
    """How many steps it took to compare runs with other mistakes than those found."""
    kept: KeptRuns = field(init=False)
    """The runs that decide between mistakes that predict one program alike."""

    def __post_init__(self) -> None:
        self.kept = KeptRuns(self.predictor)

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The mistakes of the saver that are known so far."""
        return tuple(each.mistake for each in self.found)

    @property
    def contracts(self) -> frozenset[str]:
        """The contracts that the known mistakes break."""
        return frozenset(each.mistake.breaks for each in self.found)

    def compare(self, run: ProgramRun) -> Compared:
        """Compare what a run showed with what the mistakes found so far predict."""
        return self.kept.compared(run, self.mistakes if run.breaches else ())

    def predicts(self, run: ProgramRun, breach: Breach, mistake: Mistake) -> bool:
        """Return whether a saver with this mistake alone shows a breach of a run, too."""
        return any(breach is each for each in self.kept.compared(run, [mistake]).predicted)

    def revise(self, run: ProgramRun) -> Compared:
        """Compare a run with the prediction, and replace a mistake if another one predicts it
        better.

        The other mistake must explain the kept runs as well as the one it replaces.
        """
        compared = self.compare(run)
        if not compared.left or not run.breaches or self.revised > _MOST_TO_REVISE:
            return compared
        before = self.predictor.steps
        better = self._revised(run, compared)
        self.revised += self.predictor.steps - before
        return better

    def _revised(self, run: ProgramRun, compared: Compared) -> Compared:
        for place, known in enumerate(self.found):
            for other in known.instead:
                chosen = [*self.mistakes]
                chosen[place] = other
                # Two of them together may show what is left.
                if not any(_may_show(each, compared.left) for each in chosen):
                    continue
                better = self.kept.compared(run, chosen)
                if len(better.left) < len(compared.left) and self.kept.fit(chosen, self.mistakes):
                    rest = tuple(each for each in known.instead if each is not other)
                    self.found[place] = Established(other, (*rest, known.mistake))
                    return better
        return compared

    def recall(self, run: ProgramRun, wanted: Collection[str]) -> None:
        """Take over mistakes that other searches have found of the saver, if they predict a run
        better.

        A mistake that breaks a ``wanted`` contract is not taken over: this search has to find it
        itself, with a program that shows it.
        """
        if not self.compare(run).left or self.recalled >= _MOST_RECALLED:
            return
        self.recalled += 1
        for known in self.memory.found:
            if known.mistake.breaks in wanted or not self._may_add(known.mistake):
                continue
            before = self.compare(run)
            for order in self._orders(known.mistake):
                after = self.kept.compared(run, order)
                if after.missed <= before.missed and len(after.left) < len(before.left):
                    self._take(known, order)
                    break

    def _take(self, added: Established, order: Sequence[Mistake]) -> None:
        known = {each.mistake.name: each for each in (*self.found, added)}
        self.found = [known[each.name] for each in order]
        if all(each.mistake is not added.mistake for each in self.memory.found):
            self.memory.found.append(added)

    def _orders(self, mistake: Mistake) -> list[tuple[Mistake, ...]]:
        """Return the orders in which a mistake can join those found before: as the last, and as the
        first.

        In each order, a later mistake overrides an earlier one.
        """
        last, first = (*self.mistakes, mistake), (mistake, *self.mistakes)
        return [last, first] if self.found else [last]

    def extend(
        self, run: ProgramRun, breach: Breach, blamed: str, wanted: Collection[str]
    ) -> Mistake | None:
        """Return the mistake that predicts a breach exactly, and add it to those found before.

        Together with those it must predict nothing that the run did not show. Mistakes that break
        the contract ``blamed`` by the rules are preferred, then mistakes that break a ``wanted``
        contract. Among these, the one that predicts most of the run and of the kept runs is taken.
        A mistake is ruled out if the saver answers right the program that is known to show it.
        Return None if no mistake fits.
        """
        sort = (breach.difference.fact, blamed)
        if sort in self.memory.in_vain:
            return None
        self.kept.keep_wrong(run)
        alone: list[_Fitting] = []
        for tier in self._tiers(run, breach.difference.kind.name, blamed, wanted):
            fitting = [found for each in tier if (found := self._fitting(run, breach, each))]
            fitting = [found for found in fitting if self._may_be_made(found.mistake)]
            if fitting and (chosen := self._choose(fitting)) is not None:
                return chosen
            alone += fitting
        if alone and (chosen := self._choose(alone, undisputed)) is not None:
            return chosen
        self.memory.in_vain.add(sort)
        return None

    def is_shown(self, mistake: Mistake) -> bool:
        """Return whether a kept run shows the contract of a mistake broken, and not only
        consequences.

        If only consequences are seen, an unknown flaw may cause them too.
        """
        return any(
            breach.contract == mistake.breaks
            for run in self.kept.wrong
            for breach in self.compare(run).predicted
        )

    def is_needed(self, mistake: Mistake) -> bool:
        """Return whether some kept run is predicted exactly only with this mistake among those
        found.
        """
        rest = [each for each in self.mistakes if each is not mistake]
        return bool(rest) and any(
            self.compare(run).exact and not self.kept.compared(run, rest).exact
            for run in self.kept.wrong
        )

    def _choose(self, fitting: Sequence[_Fitting], against: Against = missed) -> Mistake | None:
        """Take the best of several mistakes. Return None if none of them predicts more than is
        known already.
        """
        fewest = min(each.left for each in fitting)
        alike = [each for each in fitting if each.left == fewest][:_MOST_ALIKE]
        best, most = None, self.kept.score(self.mistakes, against=against)
        for each in alike:
            if (score := self.kept.score(each.order, to_beat=most, against=against)) > most:
                best, most = each, score
        if best is None:
            return None
        others = tuple(each.mistake for each in alike if each is not best)
        self._take(Established(best.mistake, others), best.order)
        self._drop_what_it_explains(best.mistake)
        return best.mistake

    def _may_be_made(self, mistake: Mistake) -> bool:
        # Do not ask about heavy mistakes: their programs take seconds.
        return mistake.heavy or self.may_be_made(mistake)

    def _drop_what_it_explains(self, added: Mistake) -> None:
        """Drop earlier mistakes that the added one makes needless. It stands for them from
        now on.
        """
        for known in [each for each in self.found if each.mistake is not added]:
            rest = tuple(each for each in self.mistakes if each is not known.mistake)
            if self.kept.fit(rest, self.mistakes):
                self.found = [
                    replace(each, instead=(*each.instead, known.mistake, *known.instead))
                    if each.mistake is added
                    else each
                    for each in self.found
                    if each is not known
                ]

    def standing_for(self, mistake: Mistake) -> Mistake:
        """Return the mistake that has replaced this one, or this one if it was not replaced."""
        if mistake in self.mistakes:
            return mistake
        stands = (each.mistake for each in self.found if mistake in each.instead)
        return next(stands, mistake)

    def _tiers(
        self, run: ProgramRun, fact: str, blamed: str, wanted: Collection[str]
    ) -> Iterator[list[Mistake]]:
        """Yield groups of mistakes that may predict a fact, the likeliest group first."""
        left = [each for each in self.pool if self._may_add(each)]
        if any(isinstance(step, Bulk) for step in run.program):
            # Such a program takes seconds, so only the likeliest mistakes are tried on it.
            left = [each for each in left if each.breaks == blamed]
        for belongs in (
            lambda each: each.breaks == blamed,
            lambda each: blamed in each.also or each.breaks in wanted,
            lambda each: fact in shown().get(each.name, ()),
            lambda _: self.predictor.steps < _MOST_UNLIKELY,
        ):
            tier = [each for each in left if belongs(each)]
            left = [each for each in left if each not in tier]
            yield tier

    def could_be(self, mistake: Mistake, other: Mistake) -> bool:
        """Return whether the ``other`` mistake, in place of this one, explains the kept runs as
        well.
        """
        if mistake not in self.mistakes or other in self.mistakes:
            return False
        instead = [other if each is mistake else each for each in self.mistakes]
        return self.kept.fit(instead, self.mistakes)

    def also_breaking(self, contract: str) -> Iterator[Mistake]:
        """Yield the mistakes that break another contract, and may thereby break this one, too."""
        return (each for each in self.pool if contract in each.also and _may_be_tried(each))

    def that_may_show(self, breaches: Collection[Breach]) -> list[Mistake]:
        """Return the mistakes that are known to show the contract or the fact of one of these
        breaches. Heavy ones are left out, as their programs take seconds.
        """
        return [
            each
            for each in self.pool
            if _may_be_tried(each) and not each.heavy and _may_show(each, breaches)
        ]

    def take_alone(self, mistake: Mistake) -> None:
        """Take one mistake in place of all found before. It stands for them from now on."""
        others = (other for each in self.found for other in (each.mistake, *each.instead))
        instead = dict.fromkeys(other for other in others if other is not mistake)
        self.found = [Established(mistake, tuple(instead))]
        self.memory.found = [*self.found]

    def _may_add(self, mistake: Mistake) -> bool:
        return _may_be_tried(mistake) and mistake not in self.mistakes

    def _fitting(self, run: ProgramRun, breach: Breach, mistake: Mistake) -> _Fitting | None:
        """Return a mistake joined with those found before, if together they predict the breach
        exactly, and also the breaches that it masked; else None.
        """
        if self.predictor.steps > _MOST_STEPS:
            return None
        target = signature(breach)
        for order in self._orders(mistake):
            compared = self.kept.compared(run, order)
            if compared.missed or target not in map(signature, compared.predicted):
                continue
            if not _masked_otherwise(run, breach, compared):
                return _Fitting(mistake, order, len(compared.left))
        return None


def _may_be_tried(mistake: Mistake) -> bool:
    # A mistake that hangs would hang here, too. The probe finds workspaces that share a store.
    return not mistake.hangs and mistake.breaks != isolation.WORKSPACES.id


def _masked_otherwise(run: ProgramRun, breach: Breach, compared: Compared) -> bool:
    """Return whether the breach hides another one at the same address that the known mistakes do
    not predict.
    """
    at = breach.difference.address
    masked = [each for each in run.masked if each.difference.address == at]
    return any(each is left for each in masked for left in compared.left)


def _may_show(mistake: Mistake, breaches: Collection[Breach]) -> bool:
    """Return whether a mistake is known to show the contract or the fact of one of these
    breaches.
    """
    contracts, facts = {mistake.breaks, *mistake.also}, shown().get(mistake.name, ())
    return any(
        breach.contract in contracts or breach.difference.kind.name in facts for breach in breaches
    )
