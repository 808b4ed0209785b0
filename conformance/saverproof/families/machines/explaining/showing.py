"""Finds programs that show one known mistake, even if the saver makes others as well."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from saverproof.families.machines.explaining.blaming import Blaming
from saverproof.families.machines.explaining.prediction import compare, signature, signatures
from saverproof.families.machines.explaining.violations import Violation, plain
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake
from saverproof.mistakes.programs import programs
from saverproof.programs.rewriting.shrinking import shrink
from saverproof.programs.steps.codec import from_json
from saverproof.programs.steps.definitions import Program

STEPS_TO_BLAME = 1_000
"""The most steps that are spent on shortening a program that breaks another family's contract. That
family's own items shorten theirs further.
"""


@dataclass(slots=True)
class Showing(Blaming):
    """A search that knows which mistake each program shows."""

    stands: dict[tuple[str, int], bool] = field(default_factory=dict)
    """True where a mistake predicts a violation, by the mistake's name and the violation's
    ``id()``.
    """

    def _as_known(self, violation: Violation) -> Violation:
        """Return a violation with the mistake that is now taken to be behind it.

        If another mistake has replaced the earlier one, and predicts what the program shows, it is
        that other one.
        """
        mistake = violation.mistake
        if mistake is None:
            return violation
        standing = self.diagnosis.standing_for(mistake)
        if standing is mistake or not self._stands_for(standing, violation):
            return violation
        return replace(violation, mistake=standing)

    def _follows_from_the_rest(self, violation: Violation) -> bool:
        """Return whether another mistake, which also breaks the violation's contract, has replaced
        the violation's own, and all mistakes found now predict the violation together.
        """
        mistake = violation.mistake
        if mistake is None:
            return False
        standing = self.diagnosis.standing_for(mistake)
        if standing is mistake or violation.contract not in standing.also:
            return False
        predicted = self.diagnosis.compare(self._replay(violation.program)).predicted
        return signature(violation.breach) in map(signature, predicted)

    def alike(self, violation: Violation) -> tuple[Mistake, ...]:
        """Return the mistakes of other contracts each of which, as the saver's only one, predicts
        what a violation's program shows.
        """
        others = self.diagnosis.also_breaking(violation.contract)
        return tuple(each for each in others if self._stands_for(each, violation))

    def instead(self, violation: Violation) -> tuple[Mistake, ...]:
        """Return the mistakes of other contracts that explain a violation as well as its own
        mistake does.

        They also explain all that was seen of the saver. Whether one of their contracts is broken
        is for its own family to say, which has runs that this family has not.
        """
        mistake = violation.mistake
        if mistake is None or mistake.breaks != violation.contract:
            return ()
        could_be = self.diagnosis.could_be
        return tuple(each for each in self.alike(violation) if could_be(mistake, each))

    def _stands_for(self, mistake: Mistake, violation: Violation) -> bool:
        key = (mistake.name, id(violation))
        if key not in self.stands:
            predictor = self.diagnosis.predictor
            run = predictor.replay(violation.program, [mistake], watch_inputs=self.watch_inputs)
            said = () if run is None else signatures(run)
            self.stands[key] = signature(violation.breach) in said
        return self.stands[key]

    def _alone(
        self, program: Program, name: str, mistake: Mistake
    ) -> tuple[Program, Breach] | None:
        """Return a short program, with its breach, that breaks a contract even if this is the
        saver's only mistake. Return None if there is no such program.
        """
        predictor = self.diagnosis.predictor

        def attempt(candidate: Program) -> Program | None:
            run = predictor.replay(candidate, [mistake], watch_inputs=self.watch_inputs)
            if run is None:
                return None
            breach = next((b for b in plain(run.breaches) if b.contract == name), None)
            return None if breach is None else run.program[: breach.position]

        start = attempt(program)
        if start is None:
            return None
        short = shrink(start, attempt, STEPS_TO_BLAME)
        run = self._replay(short)
        predicted = compare(run, predictor.predict(run, [mistake])).predicted
        breach = next((b for b in plain(predicted) if b.contract == name), None)
        return None if breach is None else (short, breach)

    def _own_breach(self, mistake: Mistake) -> tuple[Program, Breach] | None:
        """Return a short program that shows the contract of a mistake broken, and the breach.
        Return None if none is found, as when kept runs show only consequences of the mistake.
        """
        name = mistake.breaks
        shown = [
            run.program[: breach.position]
            for run in self.diagnosis.kept.wrong
            for breach in self.diagnosis.compare(run).predicted
            if breach.contract == name
        ]
        return self._alone(min(shown, key=len), name, mistake) if shown else None

    def _example(self, mistake: Mistake) -> tuple[Program, Breach] | None:
        """Return the program that is known to show a mistake, if it shows it on this saver.

        Return with it the first breach that this mistake alone predicts.
        """
        known = programs().get(mistake.name)
        program = () if known is None else from_json(known)
        breach = self._predicted(program, mistake) if program else None
        return None if breach is None else (program, breach)

    def _predicted(
        self, program: Program, mistake: Mistake, like: Breach | None = None
    ) -> Breach | None:
        """Return the first breach of a program that this mistake predicts, or None.

        With ``like``, return the first predicted breach that is like that one.
        """
        run = self._replay(program)
        compared = compare(run, self.diagnosis.predictor.predict(run, [mistake]))
        wanted = None if like is None else signature(like)
        return next((b for b in plain(compared.predicted) if wanted in (None, signature(b))), None)
