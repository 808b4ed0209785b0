"""Finds the contract to blame for a breach, by running the program again without some of its
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from saverproof.contracts.tables import parity
from saverproof.families.machines.explaining.diagnosis import Diagnosis
from saverproof.families.machines.explaining.patience import OutOfPatience
from saverproof.families.machines.explaining.prediction import Predictor, signature
from saverproof.families.machines.explaining.traits import traits
from saverproof.families.machines.explaining.trials import ProgramRun, Trials
from saverproof.families.machines.explaining.violations import (
    Violation,
    kind_of,
    plain,
    plain_breaches,
)
from saverproof.judging.attribution.feature import Feature
from saverproof.judging.attribution.features import REFUSED, asked_about
from saverproof.judging.facts import OWN, WRITE_ORDER, WRITE_VALUE
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake
from saverproof.mistakes.programs import programs
from saverproof.programs.rewriting.shrinking import MOST_STEPS, shrink
from saverproof.programs.steps.codec import from_json
from saverproof.programs.steps.definitions import OwnStep, Program, Step
from saverproof.programs.trait import Trait

SAME = parity.SAME_ANSWERS.id
_MOST_NEEDS = 5
"""The number of needs of a program after which no more are looked for: each takes a replay."""
_LONG = 60
"""The number of steps above which a program counts as long. Random programs are shorter. Looking at
the whole store after each step costs the square of the steps.
"""


@dataclass(slots=True)
class Blaming:
    """A search for the contract to blame for a breach, among those ``wanted``. It runs programs
    again.

    ``found`` has the first violation of each contract. Breaches that ``diagnosis`` predicts are
    settled; only the others are looked into.
    """

    trials: Trials
    wanted: frozenset[str]
    watch_inputs: bool = False
    found: dict[str, Violation] = field(default_factory=dict)
    diagnosis: Diagnosis = field(init=False)
    lately: list[tuple[Program, ProgramRun]] = field(default_factory=list)
    """Programs that the current follow-up has run, each with its run, for use by several
    questions.
    """
    _answered_right: dict[str, bool] = field(default_factory=dict)
    """True if the saver answered the program of a mistake right, by the mistake's name."""

    def __post_init__(self) -> None:
        self.diagnosis = Diagnosis(Predictor(self.trials), self._may_be_made)

    def use(self, trials: Trials) -> None:
        """Run programs with these trials from now on."""
        self.trials = self.diagnosis.predictor.like = trials

    def blamed(self, program: Program, breach: Breach) -> str:
        """Return the contract to blame for a breach that a shortened program shows."""
        if breach.difference.kind is OWN:
            return breach.contract
        if isinstance(breach.step, OwnStep):
            return self._shown_without(program, breach) or breach.contract
        if added := self._own_behind(program, breach):
            return added
        if self._holds_apis_together and not self._shown_by_each_api(program, breach.contract):
            return SAME
        return self._culprit(program, breach)

    def _shown_without(self, program: Program, breach: Breach) -> str:
        """Return the contract that the same difference breaks when the steps of an author's rule
        are taken out of the program; "" if the difference is gone then.

        The whole store is read after a rule, which may show a difference that is older than the
        rule.
        """
        others = [step for step in program if not _is_of_rule(step, breach.contract)]
        # The whole signature but the position of the step after which the breach was seen.
        difference = signature(breach)[1:]
        alike = (
            each for each in self._replay(others).breaches if signature(each)[1:] == difference
        )
        return next((each.contract for each in alike), "")

    def _own_behind(self, program: Program, breach: Breach) -> str:
        """Return the contract of an author's rule if the breach is gone without the rule's steps;
        "" if there is no such rule.
        """
        for contract in dict.fromkeys(s.contract for s in program if isinstance(s, OwnStep)):
            others = [step for step in program if not _is_of_rule(step, contract)]
            if not any(_is_like(each, breach) for each in self._replay(others).breaches):
                return contract
        return ""

    def _culprit(self, program: Program, breach: Breach) -> str:
        """Return the contract of the feature without which the breach is gone.

        If there is no such feature, return the breach's own contract. If a simpler program shows
        the same kind of difference and another contract is blamed there, go on with the simpler
        program and that contract. A feature is passed over if, without it, the same write is still
        wrong in the way that a known mistake predicts: that mistake may be behind the breach here,
        too.
        """
        contract, kind, seen = breach.contract, kind_of(breach), breach
        asked: list[Feature] = []
        while feature := self._next_to_ask(program, contract, kind, asked):
            asked.append(feature)
            simpler = feature.without(program)
            run = self._replay(simpler)
            similar = self._similar(run, replace(breach, contract=contract))
            predicted = self.diagnosis.compare(run).predicted
            if not similar and any(_is_of_its_write(each, seen) for each in predicted):
                continue
            if not similar:
                return feature.contract or contract
            if all(b.contract != contract for b in similar):
                contract = similar[0].contract
            # Its task, or its thread, may have another name there.
            program, seen = simpler, similar[0]
        return contract

    def _left(self, run: ProgramRun) -> list[Breach]:
        """Return the breaches of a run that the mistakes found so far do not predict."""
        return plain(self.diagnosis.compare(run).left)

    def _similar(self, run: ProgramRun, breach: Breach) -> list[Breach]:
        """Return the unpredicted breaches with the contract or the kind of fact of ``breach``."""
        kind = kind_of(breach)
        # A checkpoint that cannot be read may make different calls raise.
        kinds = REFUSED if kind in REFUSED else {kind}
        left = self._left(run)
        if breach.difference.kind is WRITE_VALUE:
            # Another value of the same write is not a matter of order; one write in the place of
            # another may be.
            left = [b for b in left if b.difference.kind is not WRITE_ORDER]
        return [b for b in left if b.contract == breach.contract or kind_of(b) in kinds]

    @staticmethod
    def _next_to_ask(
        program: Program, contract: str, kind: str, asked: list[Feature]
    ) -> Feature | None:
        left = (f for f in asked_about(program, contract, kind) if f not in asked)
        return next(left, None)

    def _replay(
        self,
        program: Iterable[Step],
        *,
        thorough: bool = True,
        until: str | None = None,
        apis: tuple[str, ...] = (),
    ) -> ProgramRun:
        # With known mistakes, the first breach of a contract may be a predicted one.
        until = None if self.diagnosis.found else until
        return self.trials.replay(
            program, thorough=thorough, watch_inputs=self.watch_inputs, until=until, apis=apis
        )

    def _replay_once(self, program: Program) -> ProgramRun:
        for known, run in self.lately:
            if known == program:
                return run
        run = self._replay(program, thorough=False)
        self.lately.append((program, run))
        return run

    def _may_be_made(self, mistake: Mistake) -> bool:
        """Return whether the saver may make a mistake. It does not if it answers right the program
        that is known to show the mistake.
        """
        if mistake.name not in self._answered_right:
            known = programs().get(mistake.name)
            self._answered_right[mistake.name] = known is not None and any(
                not self.trials.replay(from_json(known), watch_inputs=True, apis=apis).breaches
                for apis in self._ways_to_show(mistake)
            )
        return not self._answered_right[mistake.name]

    def _ways_to_show(self, mistake: Mistake) -> list[tuple[str, ...]]:
        """Return the APIs, alone and together, through which a saver with a mistake shows it.

        A flaw of one API alone may look like a mistake of both in a program that uses them in turn.
        """
        apis = self.trials.apis
        alone = [(api,) for api in apis if self._crossed and api in mistake.apis]
        return [apis, *alone]

    def _attempt(
        self, name: str, rewritten: Callable[[Program], Program] = tuple
    ) -> Callable[[Program], Program | None]:
        """Return a function that runs a program, and returns its part up to the first breach of
        contract ``name``.

        The function returns None if there is no such breach. ``rewritten`` is applied to the
        program first. Once one long program has shown the breach by its own reads, no other long
        program is looked at after every step.
        """
        shows_by_itself = False

        def attempt(candidate: Program) -> Program | None:
            nonlocal shows_by_itself
            taken = rewritten(candidate)
            long, breach = len(taken) > _LONG, None
            if long:
                run = self._replay(taken, thorough=False, until=name)
                breach = self._first(run, name)
                shows_by_itself |= breach is not None
            if not (long and shows_by_itself):
                run = self._replay(taken, until=name)
                breach = self._first(run, name)
            return None if breach is None else run.program[: breach.position]

        return attempt

    def shrunk(
        self,
        program: Program,
        attempt: Callable[[Program], Program | None],
        most_steps: int = MOST_STEPS,
    ) -> tuple[Program, bool]:
        """Return a shorter program. Return with it True, or False if patience ended before the
        program was as short as can be.

        Where opening a store takes long, candidates share one store. The result then has to show
        the breach on a store of its own as well.
        """
        if self.trials.shared is not None:
            if shown := self._shortened_together(program, attempt, most_steps):
                return shown
            # Data in the shared store may have been in the way: start it anew.
            self.trials.shared.reopen()
        return self._shortened(program, attempt, most_steps)

    def _shortened_together(
        self,
        program: Program,
        attempt: Callable[[Program], Program | None],
        most_steps: int,
    ) -> tuple[Program, bool] | None:
        try:
            with self.trials.sharing():
                if attempt(program) is None:
                    return None
                short, whole = self._shortened(program, attempt, most_steps)
            return None if attempt(short) is None else (short, whole)
        except OutOfPatience:
            return None

    def _shortened(
        self,
        program: Program,
        attempt: Callable[[Program], Program | None],
        most_steps: int,
    ) -> tuple[Program, bool]:
        ended = False

        def tried(candidate: Program) -> Program | None:
            nonlocal ended
            try:
                return None if ended else attempt(candidate)
            except OutOfPatience:
                ended = True
                self.trials.patience.allow_the_last()
                return None

        return shrink(program, tried, most_steps), not ended

    def _shown_as_well(self, program: Program) -> frozenset[str]:
        """Return all contracts that a program shows to be broken; none if patience ends."""
        try:
            return frozenset(b.contract for b in plain_breaches(self._replay(program)))
        except OutOfPatience:
            return frozenset()

    def _needs(self, program: Program, breach: Breach) -> tuple[Trait, ...]:
        """Return the traits without which a program does not show a breach that no known mistake
        predicts.

        Do not call this for a predicted breach: it counts as gone whatever is taken out. There are
        no traits if patience ends.
        """
        needs: list[Trait] = []
        try:
            for each in traits(program):
                if not self._similar(self._replay(each.without(program)), breach):
                    needs.append(each)
                if len(needs) == _MOST_NEEDS:
                    break
        except OutOfPatience:
            return ()
        return _apart_from_steps(needs, program)

    def _first(self, run: ProgramRun, contract: str) -> Breach | None:
        if all(breach.contract != contract for breach in (*run.breaches, *run.masked)):
            # A prediction would only say the same, and takes as long as the run did.
            return None
        return next((b for b in self._left(run) if b.contract == contract), None)

    def _shown_by_each_api(self, program: Program, name: str) -> bool:
        """Return whether a program shows the breach through each API alone."""
        runs = (self._replay(program, until=name, apis=(api,)) for api in self.trials.apis)
        return all(self._first(run, name) for run in runs)

    @property
    def _crossed(self) -> bool:
        return len(self.trials.apis) > 1

    @property
    def _holds_apis_together(self) -> bool:
        """True if a breach may come from a difference between the two APIs."""
        return self._crossed and SAME in self.wanted - self.found.keys()


def _is_of_rule(step: Step, contract: str) -> bool:
    return isinstance(step, OwnStep) and step.contract == contract


def _is_like(one: Breach, other: Breach) -> bool:
    """Return whether two breaches have the same contract and the same kind of fact."""
    return one.contract == other.contract and kind_of(one) == kind_of(other)


def _is_of_its_write(one: Breach, other: Breach) -> bool:
    """Return whether two breaches say that the same pending write is wrong."""
    here, there = one.difference, other.difference
    if here.write is None or there.write is None or here.address != there.address:
        return False
    return (here.write.task, here.write.index) == (there.write.task, there.write.index)


def _apart_from_steps(needs: list[Trait], program: Program) -> tuple[Trait, ...]:
    """Return the needs without those that take out no more than a need of a whole kind of steps.

    A trait of the program's only deletion is an example: without it, the deletion is gone. All
    needs stay if the program needs nothing else.
    """
    bare = [need.without(program) for need in needs if need.whole_step]
    telling = [n for n in needs if not n.whole_step and n.without(program) not in bare]
    return tuple(n for n in needs if n.whole_step or n in telling) if telling else tuple(needs)
