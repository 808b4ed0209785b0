"""Searches for programs that break the contracts of a family, and makes each as short as can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace

from saverproof.contracts.tables import parity
from saverproof.judging.attribution.feature import Feature
from saverproof.judging.attribution.features import REFUSED, asked_about
from saverproof.judging.facts import OWN
from saverproof.judging.session import Breach
from saverproof.machines.differences import Differences
from saverproof.machines.trials import ProgramRun, Trials
from saverproof.programs.shrinking import shrink
from saverproof.steps.definitions import OwnStep, Program

SAME = parity.SAME_ANSWERS.id
_DISMISS_AFTER = 3
_LOOKS_AT_WHAT_IS_KNOWN = 12


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
class ProgramSearch:
    """Follows up what runs showed, for the contracts in ``wanted``.

    ``guilty`` are the features that were found to be behind something: what is gone without them
    is not looked into again.
    """

    trials: Trials
    wanted: frozenset[str]
    watch_inputs: bool = False
    found: dict[str, Violation] = field(default_factory=dict)
    guilty: list[Feature] = field(default_factory=list)
    differences: Differences = field(default_factory=Differences)
    examples: dict[str, Program] = field(default_factory=dict)
    """Contract that a difference was first blamed on -> the first program that showed one."""
    _dismissed: Counter[str] = field(default_factory=Counter)
    _explained: Counter[str] = field(default_factory=Counter)

    def follow_up(self, run: ProgramRun) -> None:
        """Look into the breaches of a run that concern a wanted contract not yet found broken."""
        self._note(run)
        for breach in _plain(run):
            if self._concerns(breach, run.program):
                self._look_into(run.program[: breach.position], breach)

    def _note(self, run: ProgramRun) -> None:
        """Count what a run showed; what came after saver and model had parted, as what parted
        them.
        """
        first = next((breach.contract for breach in _plain(run)), None)
        for breach in run.breaches:
            name = first if breach.diverged and first is not None else breach.contract
            self.differences.note(name, breach.difference.times)
            self.examples.setdefault(name, run.program[: breach.position])
            if self._crossed and name not in self.wanted:
                # Only where the APIs are found to differ is there a finding that explains it.
                self.differences.explain(name, {SAME} & self.wanted)

    def _concerns(self, breach: Breach, program: Program) -> bool:
        name = breach.contract
        if name in self.found or self._dismissed[name] >= _DISMISS_AFTER:
            return False
        if self._explained[name] >= _LOOKS_AT_WHAT_IS_KNOWN:
            return False
        return name in self.wanted or self._holds_apis_together or bool(self._ours(program, name))

    @property
    def _crossed(self) -> bool:
        return len(self.trials.apis) > 1

    @property
    def _holds_apis_together(self) -> bool:
        """Whether any breach may come from one API doing otherwise than the other."""
        return self._crossed and SAME in self.wanted - self.found.keys()

    def _ours(self, program: Program, name: str) -> list[Feature]:
        """The features that may be behind a breach, and whose contracts are wanted."""
        open_ = self.wanted - self.found.keys()
        return [feature for feature in asked_about(program, name) if feature.contract in open_]

    def _look_into(self, program: Program, breach: Breach) -> None:
        thorough = self._replay(program)
        if not thorough.breaches:
            self._unsteady(program, breach)
            return
        shown = {b.contract: b for b in reversed(_plain(thorough))}
        for name in shown:
            if self._concerns(shown[name], thorough.program):
                self._settle(thorough.program, name)
        if breach.contract not in shown:
            # Looked at more closely, the program shows first what this came from.
            self.differences.explain(breach.contract, shown)
            self._dismissed[breach.contract] += 1

    def _replay(
        self, program: Program, *, thorough: bool = True, until: str | None = None
    ) -> ProgramRun:
        return self.trials.replay(
            program, thorough=thorough, watch_inputs=self.watch_inputs, until=until
        )

    def _unsteady(self, program: Program, breach: Breach) -> None:
        """A look at everything hides the flaw: replay as it was, or report what was seen once."""
        if breach.contract not in self.wanted:
            self._dismissed[breach.contract] += 1
            return
        again = self._replay(program, thorough=False)
        steady = any(b.contract == breach.contract for b in again.breaches)
        self.found[breach.contract] = Violation(breach.contract, program, breach, steady)

    def _settle(self, program: Program, name: str) -> None:
        """Shorten a program for one breach, then ask which of its features is to blame."""
        attempt = self._attempt(name)
        left = attempt(self._without(self.guilty, program, name))
        if left is None or self._another_familys(left, name):
            if left is None:
                behind = (f.contract for f in self.guilty if f.may_be_behind(name))
                self.differences.explain(name, set(behind))
            self._explained[name] += 1
            return
        short = shrink(left, attempt)
        breach = self._first(self._replay(short, until=name), name)
        contract = name if breach is None else self.blamed(short, breach)
        self.differences.explain(name, {contract})
        if breach is None or contract not in self.wanted or contract in self.found:
            self._dismissed[name] += 1
            return
        self.found[contract] = Violation(contract, short, replace(breach, contract=contract))

    def look_once_more(self, names: Collection[str]) -> None:
        """Whether what looked like a breach of these contracts comes from what was found."""
        # What turned out to be another family's was looked into already.
        for name in sorted(self.examples.keys() & names):
            program = self.examples[name]
            behind = [feature for feature in self.guilty if feature.may_be_behind(name)]
            without = self._without(behind, program, name)
            if without != program and self._first(self._replay(without), name) is None:
                self.differences.explain(name, {feature.contract for feature in behind})
                continue
            shown = {breach.contract for breach in _plain(self._replay(program))}
            if name not in shown:
                self.differences.explain(name, shown)
                continue
            attempt = self._attempt(name)
            short = shrink(program, attempt)
            if breach := self._first(self._replay(short, until=name), name):
                self.differences.explain(name, {self.blamed(short, breach)})

    def _another_familys(self, program: Program, name: str) -> bool:
        """Whether a breach of a contract that is not wanted stays without the features that are."""
        if name in self.wanted:
            return False
        if self._holds_apis_together:
            return self._shown_by_each_api(program, name)
        plain: Program = program
        asked: list[Feature] = []
        while ours := [f for f in self._ours(plain, name) if f not in asked]:
            asked.append(ours[0])
            plain = ours[0].without(plain)
        return self._first(self._replay(plain, until=name), name) is not None

    def _attempt(self, name: str) -> Callable[[Program], Program | None]:
        """Runs a program as far as its first breach of a contract."""

        def attempt(candidate: Program) -> Program | None:
            run = self._replay(candidate, until=name)
            breach = self._first(run, name)
            return None if breach is None else run.program[: breach.position]

        return attempt

    @staticmethod
    def _without(features: Iterable[Feature], program: Program, name: str) -> Program:
        for feature in features:
            if feature.may_be_behind(name):
                program = feature.without(program)
        return program

    @staticmethod
    def _first(run: ProgramRun, contract: str) -> Breach | None:
        return next((b for b in _plain(run) if b.contract == contract), None)

    def _shown_by_each_api(self, program: Program, name: str) -> bool:
        """Whether a program shows a breach through each of the APIs alone, too."""
        runs = (
            self.trials.replay(program, watch_inputs=self.watch_inputs, until=name, apis=(api,))
            for api in self.trials.apis
        )
        return all(self._first(run, name) for run in runs)

    def blamed(self, program: Program, breach: Breach) -> str:
        """The contract to blame for what the shortest program shows."""
        if breach.difference.kind is OWN or isinstance(breach.step, OwnStep):
            return breach.contract
        if self._holds_apis_together and not self._shown_by_each_api(program, breach.contract):
            return SAME
        return self._culprit(program, breach)

    def _culprit(self, program: Program, breach: Breach) -> str:
        """The contract of the feature without which the breach is gone, or the breach's own.

        If a simpler program shows the same kind of difference and another contract is blamed for
        it there, the simpler program is the one to go by.
        """
        contract, kind = breach.contract, _kind(breach)
        # What cannot be read may be told by another call that raises.
        kinds = REFUSED if kind in REFUSED else {kind}
        asked: list[Feature] = []
        while feature := self._next_to_ask(program, contract, kind, asked):
            asked.append(feature)
            simpler = feature.without(program)
            run = self._replay(simpler)
            similar = [b for b in _plain(run) if b.contract == contract or _kind(b) in kinds]
            if not similar:
                if feature.contract:
                    self.guilty.append(feature)
                return feature.contract or contract
            if all(b.contract != contract for b in similar):
                contract = similar[0].contract
            program = simpler
        return contract

    @staticmethod
    def _next_to_ask(
        program: Program, contract: str, kind: str, asked: list[Feature]
    ) -> Feature | None:
        left = (f for f in asked_about(program, contract, kind) if f not in asked)
        return next(left, None)


def _plain(run: ProgramRun) -> list[Breach]:
    """The breaches that do not come after the saver and the model had parted."""
    return [breach for breach in run.breaches if not breach.diverged]


def _kind(breach: Breach) -> str:
    """What sort of fact differs, its details aside."""
    return breach.difference.fact.partition(":")[0]
