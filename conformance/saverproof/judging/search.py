"""Searches for programs that break the contracts of one family, and makes each as short as can be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from saverproof.judging.features import asked_about, present
from saverproof.judging.session import Breach
from saverproof.judging.trial import Run, Trials
from saverproof.programs.shrinking import shrink
from saverproof.programs.steps import Program

_DISMISS_AFTER = 3


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken contract with the shortest program found that shows it.

    ``steady`` is false if the program showed the flaw once and not again.
    """

    contract: str
    program: Program
    breach: Breach
    steady: bool = True


@dataclass(slots=True)
class Search:
    """Follows up what runs showed, for the contracts in ``wanted``."""

    trials: Trials
    wanted: frozenset[str]
    watch_inputs: bool = False
    found: dict[str, Violation] = field(default_factory=dict)
    _dismissed: Counter[str] = field(default_factory=Counter)

    def follow_up(self, run: Run) -> None:
        """Look into the breaches of a run that concern a wanted contract not yet found broken."""
        for breach in run.breaches:
            if self._concerns(breach, run.program):
                self._look_into(run.program[: breach.position], breach)

    def _concerns(self, breach: Breach, program: Program) -> bool:
        if breach.contract in self.found or self._dismissed[breach.contract] >= _DISMISS_AFTER:
            return False
        if breach.contract in self.wanted:
            return True
        owned = {feature.contract for feature in present(program)} & self.wanted
        return bool(owned - self.found.keys())

    def _look_into(self, program: Program, breach: Breach) -> None:
        thorough = self._replay(program)
        shown = {b.contract: b for b in reversed(thorough.breaches)}
        if not shown:
            self._unsteady(program, breach)
            return
        before = len(self.found)
        for contract in shown:
            if contract in self.wanted or present(thorough.program):
                self._settle(thorough.program, shown[contract])
        if len(self.found) == before:
            self._dismissed[breach.contract] += 1

    def _replay(self, program: Program, *, thorough: bool = True) -> Run:
        return self.trials.replay(program, thorough=thorough, watch_inputs=self.watch_inputs)

    def _unsteady(self, program: Program, breach: Breach) -> None:
        """A look at everything hides the flaw: replay as it was, or report what was seen once."""
        if breach.contract not in self.wanted:
            self._dismissed[breach.contract] += 1
            return
        again = self._replay(program, thorough=False)
        steady = any(b.contract == breach.contract for b in again.breaches)
        self.found[breach.contract] = Violation(breach.contract, program, breach, steady)

    def _settle(self, program: Program, breach: Breach) -> None:
        """Shorten a program for one breach, then ask which of its features is to blame."""
        if breach.contract in self.found:
            return
        short = self._shortest(program[: breach.position], breach.contract)
        shown = self._first(self._replay(short), breach.contract) or breach
        contract = self._culprit(short, shown)
        if contract not in self.wanted or contract in self.found:
            return
        self.found[contract] = Violation(contract, short, replace(shown, contract=contract))

    def _shortest(self, program: Program, contract: str) -> Program:
        def attempt(candidate: Program) -> Program | None:
            run = self._replay(candidate)
            breach = self._first(run, contract)
            return None if breach is None else run.program[: breach.position]

        return shrink(attempt(program) or program, attempt)

    @staticmethod
    def _first(run: Run, contract: str) -> Breach | None:
        return next((b for b in run.breaches if b.contract == contract), None)

    def _culprit(self, program: Program, breach: Breach) -> str:
        """The contract of the feature without which the breach is gone, or the breach's own.

        If a simpler program shows the same kind of difference and another contract is blamed for
        it there, the simpler program is the one to go by.
        """
        contract, kind = breach.contract, _kind(breach)
        left = asked_about(program, contract)
        while left:
            feature = left.pop(0)
            simpler = feature.without(program)
            run = self._replay(simpler)
            similar = [b for b in run.breaches if b.contract == contract or _kind(b) == kind]
            if not similar:
                return feature.contract or contract
            if all(b.contract != contract for b in similar):
                contract, program = similar[0].contract, simpler
                left = [f for f in asked_about(program, contract) if f is not feature]
        return contract


def _kind(breach: Breach) -> str:
    """What sort of fact differs, its details aside."""
    return breach.difference.fact.partition(":")[0]
