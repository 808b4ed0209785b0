"""Searches for programs that break the contracts of a family, and makes each as short as can be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from saverproof.judging.attribution.feature import Feature
from saverproof.judging.attribution.features import asked_about
from saverproof.judging.session import Breach
from saverproof.machines.blaming import SAME, Blaming
from saverproof.machines.differences import Differences, calls_in
from saverproof.machines.follow_up_limits import FollowUpLimits
from saverproof.machines.suspects import Suspect
from saverproof.machines.trials import ProgramRun
from saverproof.machines.violations import (
    Violation,
    has_cause_of,
    is_alike,
    plain_breaches,
)
from saverproof.steps.definitions import Program

_LAST_ALLOWANCE = 8_000
"""Calls that may be spent in the end on what other families' items settle."""
_STEPS_TO_BLAME = 1_000
"""Steps of candidates for a program that is only looked at, and never shown."""


@dataclass(slots=True)
class ProgramSearch(Blaming):
    """Follows up what runs showed, for the contracts in ``wanted``.

    What was ``found`` is not the end: the search goes on without something that each finding
    needs, and keeps what breaks the same contract for another cause in ``further``. That is
    bounded: a saver that is red may take half as long again as one that is green.
    """

    further: list[Violation] = field(default_factory=list)
    differences: Differences = field(default_factory=Differences)
    examples: dict[str, Program] = field(default_factory=dict)
    """Contract that a difference was first blamed on -> the shortest program that showed one."""
    limits: FollowUpLimits = field(default_factory=FollowUpLimits)

    @property
    def violations(self) -> list[Violation]:
        """All that was found, those of one contract together."""
        return [
            violation
            for first in self.found.values()
            for violation in (first, *(v for v in self.further if v.contract == first.contract))
        ]

    def follow_up(self, run: ProgramRun) -> None:
        """Look into the breaches of a run that concern a wanted contract, and were not explained
        by what was found.
        """
        self._note(run)
        with self.trials.patience.following_up(self.trials.calls):
            self._follow_up(run)

    def _follow_up(self, run: ProgramRun) -> None:
        looked_beyond: set[str] = set()
        self.lately.clear()
        for breach in plain_breaches(run):
            name = breach.contract
            if name in looked_beyond or not self._concerns(breach, run.program):
                continue
            before, own = self.trials.calls, name in self.wanted and name not in self.found
            if name in self.found or self._behind(name):
                looked_beyond.add(name)
                self._look_beyond(run.program, name)
            else:
                self._look_into(run.program[: breach.position], breach)
            if not own:
                self.limits.spent += self.trials.calls - before

    def _note(self, run: ProgramRun) -> None:
        """Count what a run showed; what came after saver and model had parted, as what parted
        them.
        """
        first = next((breach.contract for breach in plain_breaches(run)), None)
        for breach in run.breaches:
            name = first if breach.diverged and first is not None else breach.contract
            self.differences.note(name, breach.difference.times)
            shown = run.program[: breach.position]
            self.examples[name] = min(self.examples.get(name, shown), shown, key=calls_in)
            if self._crossed and name not in self.wanted:
                # Only where the APIs are found to differ is there a finding that explains it.
                self.differences.explain(name, {SAME} & self.wanted)

    def _concerns(self, breach: Breach, program: Program) -> bool:
        name = breach.contract
        if self.limits.is_given_up(name):
            return False
        if name in self.found:
            return self._may_have_another_cause(name)
        if self.limits.is_explained(name, once=self._exhausted and name not in self.wanted):
            return False
        return (
            name in self.wanted
            or self._holds_apis_together
            or any(True for _ in self._ours(program, name))
        )

    def _may_have_another_cause(self, contract: str) -> bool:
        """Whether to go on looking for breaches of a contract that was found broken."""
        causes = 1 + sum(violation.contract == contract for violation in self.further)
        return not self._exhausted and self.limits.may_go_beyond(contract, causes)

    @property
    def _exhausted(self) -> bool:
        """Whether enough was spent on what was found already."""
        return self.limits.is_exhausted(self.trials.calls)

    def _ours(self, program: Program, name: str) -> Iterator[Feature]:
        """The features that may be behind a breach, and whose contracts are wanted."""

        def is_wanted(feature: Feature) -> bool:
            contract = feature.contract
            known = contract in self.found
            return contract in self.wanted and (not known or self._may_have_another_cause(contract))

        return asked_about(program, name, concerned=is_wanted)

    def _look_beyond(self, program: Program, name: str) -> None:
        """Whether a breach that may come from what was found stays without something that each
        finding needs.
        """
        behind = self._behind(name)
        self.limits.beyond[name] += 1
        left = self._without(behind, program, self.limits.beyond[name])
        if left is None:
            return
        run = self._replay_once(left)
        again = self._first(run, name)
        if again is not None:
            self._look_into(run.program[: again.position], again)
        else:
            self.limits.explained[name] += 1
            self.differences.explain(name, {suspect.contract for suspect in behind})

    def _look_into(self, program: Program, breach: Breach) -> None:
        thorough = self._replay(program)
        if not thorough.breaches:
            self._unsteady(program, breach.contract)
            return
        shown = {b.contract: b for b in reversed(plain_breaches(thorough))}
        for name in shown:
            if self._concerns(shown[name], thorough.program):
                self._settle(thorough.program, name)
        if breach.contract not in shown:
            # Looked at more closely, the program shows first what this came from.
            alike = {b.contract for b in plain_breaches(thorough) if is_alike(b, breach)}
            self._explain_if_steady(program, breach.contract, alike or {*shown})
            self.limits.dismissed[breach.contract] += 1

    def _explain_if_steady(self, program: Program, name: str, others: set[str]) -> None:
        """What does not show again, looked at as it was, is unknown, and explained by nothing."""
        if self._first(self._replay(program, thorough=False), name) is not None:
            self.differences.explain(name, others)

    def _unsteady(self, program: Program, name: str) -> None:
        """A look at everything hides the flaw, or chance decides whether a shorter program shows
        it: replay it as it was. What does not show again is unknown, with the program.
        """
        if name in self.wanted:
            runs = (self._replay(program, thorough=thorough) for thorough in (False, True))
            again = next((seen for run in runs if (seen := self._first(run, name))), None)
            if again is not None:
                self.found.setdefault(name, Violation(name, program, again, shortened=False))
                return
        self.limits.dismissed[name] += 1

    def _settle(self, program: Program, name: str) -> None:
        """Shorten a program for one breach, then ask which of its features is to blame."""
        behind, turn = self._behind(name), self.limits.beyond[name]

        def without_found(candidate: Program) -> Program:
            left = self._without(behind, candidate, turn)
            return candidate if left is None else left

        attempt = self._attempt(name, without_found)
        left = self._unexplained(program, name, behind, attempt)
        if left is None or self._another_familys(left, name):
            self.limits.explained[name] += 1
            return
        short, shortened = self.shrunk(left, attempt)
        breach = self._first(self._replay(short, until=name), name)
        if breach is None:
            self.differences.explain(name, {name})
            self._unsteady(left, name)
            return
        contract = self.blamed(short, breach)
        self.differences.explain(name, {contract})
        if contract not in self.wanted:
            self.limits.dismissed[name] += 1
            return
        self._keep(contract, short, breach, shortened)

    def _unexplained(
        self,
        program: Program,
        name: str,
        behind: list[Suspect],
        attempt: Callable[[Program], Program | None],
    ) -> Program | None:
        """What shows a breach without something that each finding needs, or None."""
        shown = attempt(program)
        if shown is None:
            # One is taken out at a time: two findings together may hide a third flaw.
            turn = self.limits.beyond[name]
            alone = {
                suspect.contract
                for suspect in behind
                if (left := self._without([suspect], program, turn)) is not None
                and self._attempt(name)(left) is None
            }
            self.differences.explain(name, alone or {suspect.contract for suspect in behind})
        return shown

    def _keep(self, contract: str, program: Program, breach: Breach, shortened: bool) -> None:
        """Keep a violation, if it is not one that was found already."""
        needs, also = self._looked_at(program, breach)
        violation = Violation(
            contract,
            program,
            replace(breach, contract=contract),
            needs,
            also - {contract, breach.contract},
            shortened,
        )
        known = [v for v in self.violations if v.contract == contract]
        if any(has_cause_of(violation, other) for other in known):
            self.limits.dismissed[breach.contract] += breach.contract not in self.found
            return
        if known:
            self.further.append(violation)
        else:
            self.found[contract] = violation
        self._suspect(contract, breach.contract, needs)

    def look_once_more(self, names: Collection[str]) -> None:
        """Whether what looked like a breach of these contracts comes from what was found."""
        with self.trials.patience.following_up(self.trials.calls):
            self._look_once_more(names)

    def _look_once_more(self, names: Collection[str]) -> None:
        # What turned out to be another family's was looked into already. Long programs come last,
        # so that what is left of the allowance settles as much as it can.
        last = self.trials.calls + _LAST_ALLOWANCE

        def cost(name: str) -> tuple[bool, int, str]:
            return name not in self.wanted, calls_in(self.examples[name]), name

        for name in sorted(self.examples.keys() & names, key=cost):
            if name not in self.wanted and self.trials.calls > last:
                return
            program = self.examples[name]
            behind = self._behind(name)
            without = program
            for suspect in behind:
                without = suspect.entirely(without) or without
            if without != program and self._first(self._replay(without), name) is None:
                self.differences.explain(name, {suspect.contract for suspect in behind})
                continue
            shown = {breach.contract for breach in plain_breaches(self._replay(program))}
            if name not in shown:
                self._explain_if_steady(program, name, shown)
                continue
            attempt = self._attempt(name)
            short, _ = self.shrunk(program, attempt, _STEPS_TO_BLAME)
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
        while ours := next((f for f in self._ours(plain, name) if f not in asked), None):
            asked.append(ours)
            plain = ours.without(plain)
        return self._first(self._replay(plain, until=name), name) is not None

    def _without(self, suspects: Iterable[Suspect], program: Program, turn: int) -> Program | None:
        """The program without something that each needs; None if there is one that needs nothing
        that is known.
        """
        for suspect in suspects:
            left = suspect.entirely(program) if self._exhausted else suspect.without(program, turn)
            if left is None:
                return None
            program = left
        return program
