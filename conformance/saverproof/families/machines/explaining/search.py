"""Searches for programs that break a family's contracts, and settles all that they showed."""

from __future__ import annotations

from dataclasses import replace

from saverproof.families.machines.explaining.differences import calls_in
from saverproof.families.machines.explaining.following import Following
from saverproof.families.machines.explaining.ledger import LedgerEntry
from saverproof.families.machines.explaining.one_for_all import OneForAll
from saverproof.families.machines.explaining.prediction import compare, signature
from saverproof.families.machines.explaining.refuting import drop
from saverproof.families.machines.explaining.showing import STEPS_TO_BLAME
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.families.machines.explaining.violations import Violation, plain
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake
from saverproof.programs.steps.definitions import Program

_MOST_TO_ASK = 5
"""The most differences of one contract for which the contracts behind them are searched. Each
search may take a run.
"""
_LAST_ALLOWANCE = 8_000
"""The most calls that may be spent at the end of an item on differences that are not settled."""
_MOST_ROUNDS = 3
"""The most times that refuted mistakes are dropped, and what they explained is settled anew. What
is chosen in their place may be refuted as well; that this happens twice is rare.
"""


class ProgramSearch(Following):
    """A search that follows up what runs showed, for the contracts in ``wanted``.

    At its end it settles the rest: a difference that is neither shown nor proved by then is
    reported as unsettled.
    """

    def show_mistakes(self) -> None:
        """Find a program for each known mistake that breaks a wanted contract, and show the mistake
        by it.

        A mistake is left out if findings show it already, and would show it even if it were the
        saver's only one. The contract of a mistake that no finding shows is left unsettled, since
        it may be broken. A mistake may also be named only by findings of other contracts. If the
        other mistakes cannot explain some run without it, its contract is left unsettled as well: a
        second mistake may be the reason why its own program is answered right.
        """
        with self.trials.patience.following_up(self.trials.calls):
            for mistake in self.diagnosis.mistakes:
                if mistake.breaks in self.wanted:
                    self._show_mistake(mistake)
        found = [*self.violations, *self.others]
        shown = {violation.contract for violation in found}
        for mistake in self.diagnosis.mistakes:
            if mistake.breaks in shown:
                continue
            told = any(one.mistake is mistake for one in found)
            if told and not (mistake.breaks in self.wanted and self.diagnosis.is_needed(mistake)):
                continue
            self.ledger.leave(mistake.breaks, self._shortest_predicted_by(mistake))

    def explain_by_one(self) -> None:
        """Take one mistake for all that was found, if it explains every run to the letter.

        What was blamed while several mistakes were believed may be no breach under the one: a
        violation is told further only if that mistake breaks its contract, too.
        """
        unknown = [one for one in (*self.violations, *self.others) if one.mistake is None]
        if len(self.diagnosis.mistakes) + len(unknown) + bool(self.ledger.open) < 2:
            return
        wrong = [entry.run for entry in self.ledger.entries]
        one = OneForAll(self.diagnosis, wrong, self.refuting.right).found()
        if one is None:
            return
        self.diagnosis.take_alone(one)
        self.stands.clear()
        with self.trials.patience.following_up(self.trials.calls):
            self._explain_by(one)

    def _explain_by(self, one: Mistake) -> None:
        self.lately.clear()
        # First of all: if patience ends below, all that is not looked at again is unsettled.
        self.ledger.reopen(self.is_shown)
        found = {v.contract: replace(v, mistake=one, needs=()) for v in self._broken_by(one)}
        further = []
        for violation in (*self.found.values(), *self.further):
            if self._is_predicted_now(violation):
                continue
            if found.setdefault(violation.contract, violation) is not violation:
                further.append(violation)
        handed = self.handed.items()
        self.handed = {
            name: v for name, v in handed if name == one.breaks or not self._is_predicted_now(v)
        }
        self.found, self.further = found, further
        for entry in [*self.ledger.open]:
            self._weigh(entry)

    def _broken_by(self, one: Mistake) -> list[Violation]:
        """Return the first violation of each contract that a mistake breaks, if it predicts it."""
        broken = {one.breaks, *one.also}
        return [
            v for v in self.found.values() if v.contract in broken and self._is_predicted_now(v)
        ]

    def drop_what_is_refuted(self) -> None:
        """Drop the mistakes that right runs refute, and explain anew the differences that they
        explained: by other mistakes, or by taking out what a finding needs. The rest is unsettled.
        """
        for _ in range(_MOST_ROUNDS):
            refuted = self.refuting.refuted(self.diagnosis)
            if not refuted:
                return
            drop(self.diagnosis, refuted)
            self.stands.clear()
            with self.trials.patience.following_up(self.trials.calls):
                self._explain_anew()
                self._settle_the_rest()

    def _explain_anew(self) -> None:
        """Look again at everything that was explained, because a mistake was dropped."""
        self.lately.clear()
        # First of all: if patience ends below, all that is not looked at again is unsettled.
        self.ledger.reopen(self.is_shown)
        told = [
            self._by_itself(one)
            for one in (*self.found.values(), *self.further)
            if not self._is_predicted(one)
        ]
        handed = [self._by_itself(one) for one in self.all_handed if not self._is_predicted(one)]
        self.handed, self.handed_further = {}, []
        for one in handed:
            if self.handed.setdefault(one.contract, one) is not one:
                self.handed_further.append(one)
        self.found, self.further = {}, []
        for one in told:
            if self.found.setdefault(one.contract, one) is not one:
                self.further.append(one)
        for entry in [*self.ledger.open]:
            self._weigh(entry)

    def _is_predicted(self, violation: Violation) -> bool:
        """Return whether the mistakes that are left predict a violation that is reported without
        one of them.
        """
        if violation.mistake is not None and self._stands(violation.mistake):
            return False
        return self._is_predicted_now(violation)

    def _is_predicted_now(self, violation: Violation) -> bool:
        """Return whether the mistakes found now predict what a violation's program shows."""
        run = self._replay(violation.program)
        target = signature(violation.breach)
        return target in map(signature, self.diagnosis.compare(run).predicted)

    def _stands(self, mistake: Mistake) -> bool:
        """Return whether a mistake, or the one that replaced it, was not dropped."""
        return self.diagnosis.standing_for(mistake) in self.diagnosis.mistakes

    def _by_itself(self, violation: Violation) -> Violation:
        """Return a violation without its mistake if that mistake was dropped. It then gets the
        traits that its program needs.
        """
        mistake = violation.mistake
        if mistake is None or self._stands(mistake):
            return violation
        needs = self._needs(violation.program, violation.breach)
        return replace(violation, mistake=None, needs=needs)

    def _shortest_predicted_by(self, mistake: Mistake) -> Program:
        """Return the shortest kept program that would show this mistake alone; () if there is
        none.
        """
        predictor = self.diagnosis.predictor
        programs = (
            run.program
            for run in self.diagnosis.kept.wrong
            if compare(run, predictor.predict(run, [mistake])).predicted
        )
        return min(programs, key=calls_in, default=())

    def from_which_follow(self, name: str) -> list[str]:
        """Return the broken contracts that explain the differences first blamed on ``name``.

        The result is empty if there are no such differences.
        """
        seen = [
            (entry.run, breach)
            for entry in self.ledger.entries
            for breach in entry.run.breaches
            if breach.contract == name
        ]
        found: set[str] = set()
        for run, breach in seen[:_MOST_TO_ASK]:
            found |= self._broken_in(run, breach)
        return sorted(found - {name})

    def _broken_in(self, run: ProgramRun, breach: Breach) -> set[str]:
        """Return the broken contracts that one breach follows from."""
        known = self.diagnosis.mistakes
        if any(breach is each for each in self.diagnosis.compare(run).predicted):
            alone = {each.breaks for each in known if self.diagnosis.predicts(run, breach, each)}
            return alone or {each.breaks for each in known}
        return {one.contract for one in (*self.violations, *self.others) if one.mistake is None}

    def settle_the_rest(self) -> None:
        """Look once more at unsettled breaches: the shortest program of each contract."""
        with self.trials.patience.following_up(self.trials.calls):
            self._settle_the_rest()

    def _settle_the_rest(self) -> None:
        self.settling_until = self.trials.calls + _LAST_ALLOWANCE
        for run in [*self.diagnosis.kept.wrong]:
            self._show_what_is_known(run)
        self._weigh_all()
        for name, entry in sorted(self.ledger.shortest().items(), key=_cost):
            if self._exhausted or name in self.found:
                continue
            breach = next((b for b in plain(entry.left) if b.contract == name), None)
            if breach is None:
                continue
            known = self.diagnosis.mistakes
            behind = self._look_into(entry.run, breach)
            if behind is not None:
                self.ledger.tell(entry, breach, behind)
            if self.diagnosis.mistakes != known:
                self._weigh_all()
            if behind is not None:
                self._weigh_alike(name)
        for name, entry in sorted(self.ledger.shortest().items(), key=_cost):
            if name not in self.found and not self._exhausted:
                self._shorten_what_is_left(name, entry)

    def _weigh_alike(self, name: str) -> None:
        """For all open runs with a breach of contract ``name``, take out of the programs what
        findings need.
        """
        for entry in [*self.ledger.open]:
            if any(breach.contract == name for breach in entry.left):
                self._weigh(entry)

    def _shorten_what_is_left(self, name: str, entry: LedgerEntry) -> None:
        """Find a shorter program with a breach of contract ``name`` that no mistake predicts."""

        def attempt(candidate: Program) -> Program | None:
            run = self.trials.replay(
                candidate, thorough=entry.run.thorough, watch_inputs=entry.run.watch_inputs
            )
            breach = next((b for b in self.diagnosis.compare(run).left if b.contract == name), None)
            return None if breach is None else run.program[: breach.position]

        start = attempt(entry.run.program)
        if start is not None:
            entry.shorter[name], _ = self.shrunk(start, attempt, STEPS_TO_BLAME)

    def _weigh_all(self) -> None:
        """Compare all open runs with the prediction again, since more mistakes are known by now."""
        for entry in [*self.ledger.open]:
            left = self._not_shown(entry.run, self.diagnosis.compare(entry.run).left)
            self.ledger.weigh(entry, left)


def _cost(item: tuple[str, LedgerEntry]) -> tuple[int, str]:
    name, entry = item
    return calls_in(entry.run.program), name
