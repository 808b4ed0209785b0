"""Which contract to blame for what a program shows: asked of programs without this or that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from saverproof.contracts.tables import parity
from saverproof.judging.attribution.feature import Feature
from saverproof.judging.attribution.features import REFUSED, asked_about
from saverproof.judging.facts import OWN
from saverproof.judging.session import Breach
from saverproof.machines.diagnosis import Diagnosis
from saverproof.machines.patience import OutOfPatience
from saverproof.machines.prediction import Predictor
from saverproof.machines.traits import traits
from saverproof.machines.trials import ProgramRun, Trials
from saverproof.machines.violations import Violation, kind_of, plain, plain_breaches
from saverproof.programs.shrinking import MOST_STEPS, shrink
from saverproof.programs.trait import Trait
from saverproof.steps.definitions import OwnStep, Program, Step

SAME = parity.SAME_ANSWERS.id
_MOST_NEEDS = 5
_LONG = 60
"""More steps than random programs have: to look at everything after each takes their square."""


@dataclass(slots=True)
class Blaming:
    """Runs programs again to see what is to blame, for the contracts in ``wanted``.

    ``found`` has the first violation of each contract. What ``diagnosis`` predicts of a run is
    settled: only what is left is looked at.
    """

    trials: Trials
    wanted: frozenset[str]
    watch_inputs: bool = False
    found: dict[str, Violation] = field(default_factory=dict)
    diagnosis: Diagnosis = field(init=False)
    lately: list[tuple[Program, ProgramRun]] = field(default_factory=list)
    """What one follow-up has run, of which it asks several things."""

    def __post_init__(self) -> None:
        self.diagnosis = Diagnosis(Predictor(self.trials))

    def use(self, trials: Trials) -> None:
        """Run programs in these trials from now on."""
        self.trials = self.diagnosis.predictor.like = trials

    def blamed(self, program: Program, breach: Breach) -> str:
        """The contract to blame for what the shortest program shows."""
        if breach.difference.kind is OWN or isinstance(breach.step, OwnStep):
            return breach.contract
        if added := self._own_behind(program, breach.contract):
            return added
        if self._holds_apis_together and not self._shown_by_each_api(program, breach.contract):
            return SAME
        return self._culprit(program, breach)

    def _own_behind(self, program: Program, name: str) -> str:
        """The author's rule without whose steps the breach is gone, if there is one."""
        for contract in dict.fromkeys(s.contract for s in program if isinstance(s, OwnStep)):
            others = [s for s in program if not (isinstance(s, OwnStep) and s.contract == contract)]
            if self._first(self._replay(others, until=name), name) is None:
                return contract
        return ""

    def _culprit(self, program: Program, breach: Breach) -> str:
        """The contract of the feature without which the breach is gone, or the breach's own.

        If a simpler program shows the same kind of difference and another contract is blamed for
        it there, the simpler program is the one to go by.
        """
        contract, kind = breach.contract, kind_of(breach)
        asked: list[Feature] = []
        while feature := self._next_to_ask(program, contract, kind, asked):
            asked.append(feature)
            simpler = feature.without(program)
            similar = self._similar(self._replay(simpler), replace(breach, contract=contract))
            if not similar:
                return feature.contract or contract
            if all(b.contract != contract for b in similar):
                contract = similar[0].contract
            program = simpler
        return contract

    def _left(self, run: ProgramRun) -> list[Breach]:
        """The breaches of a run that what was found does not predict."""
        return plain(self.diagnosis.compare(run).left)

    def _similar(self, run: ProgramRun, breach: Breach) -> list[Breach]:
        """Those that are of the same contract, or the same kind of fact."""
        kind = kind_of(breach)
        # What cannot be read may be told by another call that raises.
        kinds = REFUSED if kind in REFUSED else {kind}
        return [b for b in self._left(run) if b.contract == breach.contract or kind_of(b) in kinds]

    @staticmethod
    def _next_to_ask(
        program: Program, contract: str, kind: str, asked: list[Feature]
    ) -> Feature | None:
        left = (f for f in asked_about(program, contract, kind) if f not in asked)
        return next(left, None)

    def _replay(
        self, program: Iterable[Step], *, thorough: bool = True, until: str | None = None
    ) -> ProgramRun:
        # The first breach of a contract may be one that was predicted.
        until = None if self.diagnosis.found else until
        return self.trials.replay(
            program, thorough=thorough, watch_inputs=self.watch_inputs, until=until
        )

    def _replay_once(self, program: Program) -> ProgramRun:
        for known, run in self.lately:
            if known == program:
                return run
        run = self._replay(program, thorough=False)
        self.lately.append((program, run))
        return run

    def _attempt(
        self, name: str, rewritten: Callable[[Program], Program] = tuple
    ) -> Callable[[Program], Program | None]:
        """Runs a program, rewritten, as far as its first breach of a contract.

        Once the questions of a long one have shown it, no other long one is looked at closely,
        step by step.
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
        """A program made shorter, and whether that was not ended early.

        Where opening a store takes long, candidates share one; what comes of that has to show the
        breach by itself.
        """
        if self.trials.shared is not None:
            if shown := self._shortened_together(program, attempt, most_steps):
                return shown
            # Whatever was in the way there is not to stay.
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

    def _looked_at(
        self, program: Program, breach: Breach
    ) -> tuple[tuple[Trait, ...], frozenset[str]]:
        """What a program needs, and what else it shows, as far as patience goes."""
        needs: list[Trait] = []
        try:
            also = frozenset(b.contract for b in plain_breaches(self._replay(program)))
            for each in traits(program):
                if not self._similar(self._replay(each.without(program)), breach):
                    needs.append(each)
                if len(needs) == _MOST_NEEDS:
                    break
        except OutOfPatience:
            return (), frozenset()
        return tuple(needs), also

    def _first(self, run: ProgramRun, contract: str) -> Breach | None:
        return next((b for b in self._left(run) if b.contract == contract), None)

    def _shown_by_each_api(self, program: Program, name: str) -> bool:
        """Whether a program shows a breach through each of the APIs alone, too."""
        runs = (
            self.trials.replay(program, watch_inputs=self.watch_inputs, until=name, apis=(api,))
            for api in self.trials.apis
        )
        return all(self._first(run, name) for run in runs)

    @property
    def _crossed(self) -> bool:
        return len(self.trials.apis) > 1

    @property
    def _holds_apis_together(self) -> bool:
        """Whether any breach may come from one API doing otherwise than the other."""
        return self._crossed and SAME in self.wanted - self.found.keys()
