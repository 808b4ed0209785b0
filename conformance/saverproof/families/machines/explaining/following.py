"""Follows up what programs showed: finds the contract that each breaks, and a short program for
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from saverproof.contracts.tables import isolation
from saverproof.families.machines.explaining.ledger import Ledger, LedgerEntry
from saverproof.families.machines.explaining.prediction import signature
from saverproof.families.machines.explaining.refuting import Refuting
from saverproof.families.machines.explaining.showing import STEPS_TO_BLAME, Showing
from saverproof.families.machines.explaining.trials import ProgramRun
from saverproof.families.machines.explaining.violations import Violation, has_cause_of, plain
from saverproof.judging.scenes.refused_value import RefuseValue
from saverproof.judging.session import Breach
from saverproof.mistakes import Mistake
from saverproof.programs.rewriting.shrinking import MOST_STEPS
from saverproof.programs.steps.definitions import Program

WORKSPACES = isolation.WORKSPACES.id
MOST_CAUSES = 5
"""The most findings with different causes that are shown for one contract. More would only lengthen
a report.
"""
_MOST_FLAWS_A_RUN = 6
"""The most flaws of one run that are looked into. Other runs show the remaining ones as well."""
_LOOKS_IN_VAIN = 3
"""The number of fruitless looks after which the differences blamed on one contract are left
alone.
"""
_LOOKS_WITHOUT_NEWS = 5
"""The number of looks for one contract that may find only what is known. Each takes hundreds of
calls.
"""
_LEAST_ALLOWANCE = 2_000
"""The number of calls of the saver that follow-ups may always take, however few calls the programs
took.
"""
Behind: TypeAlias = tuple[str, ...]
"""Contracts of other families, one of which is behind a difference. Empty if a finding shows it."""
SHOWN: Behind = ()


@dataclass(slots=True)
class Following(Showing):
    """A search that follows up what runs showed, for the contracts in ``wanted``.

    Once a flaw is found, runs are compared with a saver that has this flaw: any further difference
    is another flaw. ``further`` has violations of a contract for a second cause. ``handed`` has
    the first violation of each contract of other families, ``handed_further`` those for a second
    cause.
    """

    further: list[Violation] = field(default_factory=list)
    handed: dict[str, Violation] = field(default_factory=dict)
    handed_further: list[Violation] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    refuting: Refuting = field(default_factory=Refuting)
    in_vain: Counter[str] = field(default_factory=Counter)
    """Looks that found nothing, counted by the contract that the difference was first blamed on."""
    without_news: Counter[str] = field(default_factory=Counter)
    """Looks that found only what was known, counted by the contract first blamed."""
    spent: int = 0
    """Calls of follow-ups that found no new contract of ``wanted``."""
    settling_until: int | None = None
    """The number of calls up to which the rest may be settled, once all programs have run."""

    @property
    def violations(self) -> list[Violation]:
        """All violations of wanted contracts, those of one contract next to each other."""
        return [
            self._as_known(violation)
            for first in self.found.values()
            for violation in (first, *(v for v in self.further if v.contract == first.contract))
        ]

    @property
    def all_handed(self) -> tuple[Violation, ...]:
        """All violations of other families' contracts."""
        return *self.handed.values(), *self.handed_further

    @property
    def others(self) -> list[Violation]:
        """The violations of other families' contracts that programs show by themselves."""
        handed = (v for v in self.all_handed if not self._follows_from_the_rest(v))
        known = map(self._as_known, handed)
        return [v for v in known if v.mistake is None or v.mistake.breaks == v.contract]

    def follow_up(self, run: ProgramRun) -> None:
        """Look into the breaches of a run that the flaws found so far do not predict."""
        self.diagnosis.kept.note(run)
        self.refuting.note(run)
        if not run.breaches:
            return
        entry = self.ledger.enter(run)
        with self.trials.patience.following_up(self.trials.calls):
            self._follow_up(entry)

    def _follow_up(self, entry: LedgerEntry) -> None:
        self.lately.clear()
        self.diagnosis.recall(entry.run, self.wanted)
        looked: set[str] = set()
        for _ in range(_MOST_FLAWS_A_RUN):
            self._weigh(entry)
            concerned = [b for b in plain(entry.left) if self._concerns(b.contract, looked)]
            breach = max(concerned, key=lambda b: b.contract == WORKSPACES, default=None)
            if breach is None:
                break
            looked.add(breach.contract)
            before, known, news = self.trials.calls, len(self.found), self._news
            behind = self._look_into(entry.run, breach)
            self.without_news[breach.contract] += self._news == news
            if behind is None:
                self.in_vain[breach.contract] += 1
            else:
                self.ledger.tell(entry, breach, behind)
                if self._news != news:
                    looked.discard(breach.contract)
            if len(self.found) == known:
                self.spent += self.trials.calls - before

        self._show_what_is_known(entry.run)

    def _show_what_is_known(self, run: ProgramRun) -> None:
        """Add a finding for each contract that a known mistake breaks, if no finding shows it
        yet.
        """
        for breach in plain(run.breaches):
            name = breach.contract
            if name in self.found or name not in self.wanted & self.diagnosis.contracts:
                continue
            mistake = next(each for each in self.diagnosis.mistakes if each.breaks == name)
            shown = self._alone(run.program[: breach.position], name, mistake)
            if shown is not None:
                self._keep(name, *shown, shortened=True, mistake=mistake)

    def _weigh(self, entry: LedgerEntry) -> None:
        """Update which differences of a run are shown or explained by findings."""
        left = self._not_shown(entry.run, self.diagnosis.revise(entry.run).left)
        staying = self._not_taken_out(entry.run, left)
        stay = {id(b) for b in staying if not self._follows_from_a_loss(entry.run, b)}
        entry.told += [breach for breach in left if id(breach) not in stay]
        self.ledger.weigh(entry, left)

    def _not_shown(self, run: ProgramRun, left: tuple[Breach, ...]) -> tuple[Breach, ...]:
        return tuple(breach for breach in left if not self.is_shown(run, breach))

    def is_shown(self, run: ProgramRun, breach: Breach) -> bool:
        """Return whether a finding shows this very difference by this very program, under any
        contract.
        """
        return any(
            violation.program == run.program[: breach.position]
            and signature(violation.breach) == signature(breach)
            for violation in (*self.found.values(), *self.further, *self.all_handed)
        )

    def _not_taken_out(self, run: ProgramRun, left: tuple[Breach, ...]) -> tuple[Breach, ...]:
        """Return the differences that stay when the needs of findings are taken out of the program.

        Only findings that no known mistake predicts are considered. Differences of a contract that
        was found broken are returned without this test.
        """
        for reduced in self._without_needs(run.program):
            if self._exhausted or all(breach.contract in self.found for breach in left):
                return left
            left = self._staying(reduced, run, left)
        return left

    def _without_needs(self, program: Program) -> Iterator[Program]:
        """Yield the program without one need of a finding, for each such need, if the program has
        everything that the finding needs.

        If something that a finding needs is missing, its flaw cannot be at work. A whole
        kind of steps is never taken out, by whichever need: without such steps other flaws
        disappear as well, which proves nothing.
        """
        for violation in (*self.violations, *self.all_handed):
            reduced = {need: need.without(program) for need in violation.needs}
            there = [need for need, without in reduced.items() if without != program]
            if all(need in there or violation.needs_instead(need, there) for need in reduced):
                bare = [reduced[need] for need in there if need.whole_step]
                yield from (reduced[need] for need in there if reduced[need] not in bare)

    def _staying(
        self, program: Program, run: ProgramRun, left: tuple[Breach, ...]
    ) -> tuple[Breach, ...]:
        """Return the differences in ``left`` that the reduced ``program`` shows as well."""
        stay = {breach.contract for breach in self._left(self._replay_once(program))}
        return tuple(b for b in left if b.contract in self.found or b.contract in stay)

    def _concerns(self, name: str, looked: Collection[str]) -> bool:
        """Return whether differences first blamed on contract ``name`` are worth another look."""
        if WORKSPACES in self.found:
            # Anything seen now may be data that another workspace put into a shared store.
            return False
        if name in looked or self.in_vain[name] >= _LOOKS_IN_VAIN:
            return False
        if self.without_news[name] >= _LOOKS_WITHOUT_NEWS:
            return False
        if name in self.found:
            return not self._exhausted and self._causes(name) < MOST_CAUSES
        known = name in self.handed or name in self.diagnosis.memory.told
        return name in self.wanted or not (known or self._exhausted)

    @property
    def _news(self) -> tuple[int, int]:
        """The numbers of violations and of mistakes known so far. A look that finds something new
        raises them.
        """
        return len(self.violations) + len(self.all_handed), len(self.diagnosis.found)

    def _causes(self, contract: str) -> int:
        return sum(violation.contract == contract for violation in self.violations)

    @property
    def _exhausted(self) -> bool:
        """True if enough calls were spent on follow-ups that found no contract of this item to be
        broken.
        """
        if self.settling_until is not None:
            return self.trials.calls > self.settling_until
        return self.spent > max(_LEAST_ALLOWANCE, (self.trials.calls - self.spent) // 2)

    def _look_into(self, run: ProgramRun, breach: Breach) -> Behind | None:
        """Find the cause of a breach; return None if it was not found."""
        program, name = run.program[: breach.position], breach.contract
        thorough = self._replay(program)
        shown = self._left(thorough)
        if not thorough.breaches:
            return self._unsteady(program, name)
        if not any(each.contract == name for each in shown):
            # With a closer look, the program first shows the breach that this one came from.
            if not shown:
                return self._as_it_was(run, breach)
            name = shown[0].contract
        first = self._first(thorough, name)
        if first is not None and (anyway := self._lost_anyway(thorough, first)):
            return self._settle(*anyway)
        return self._settle(thorough.program, name)

    def _lost_anyway(self, run: ProgramRun, breach: Breach) -> tuple[Program, str] | None:
        """Look for a flaw by which the saver loses a value that cannot be serialized, before it
        would be serialized.

        A saver with this flaw does not refuse the value, and loses a good value in the same place.
        Return the program with the good value, and the contract that its loss breaks.
        """
        scene = breach.step
        if not isinstance(scene, RefuseValue) or not scene.is_accepted(breach.difference):
            return None
        good = self._replay_once((*run.program[: breach.position - 1], *scene.serializable()))
        # Where an earlier loss was seen, this one is masked.
        shown = (*self._left(good), *good.masked)
        lost = next((b for b in shown if scene.is_lost(b.difference)), None)
        return None if lost is None else (good.program[: lost.position], lost.contract)

    def _follows_from_a_loss(self, run: ProgramRun, breach: Breach) -> bool:
        """Return whether a saver accepts a value that it should refuse only because it loses the
        value before it is serialized, and a finding shows that loss.
        """
        anyway = self._lost_anyway(run, breach)
        known = self.found.keys() | self.handed.keys() | self.diagnosis.memory.told
        return anyway is not None and anyway[1] in known

    def _as_it_was(self, run: ProgramRun, breach: Breach) -> Behind | None:
        """Look for a mistake that predicts a breach which is gone when the store is read more
        often.
        """
        mistake = self.diagnosis.extend(run, breach, breach.contract, self.wanted)
        if mistake is None:
            return None
        program = run.program[: breach.position]
        return self._keep(breach.contract, program, breach, shortened=False, mistake=mistake)

    def _unsteady(self, program: Program, name: str) -> Behind | None:
        """Replay a program unchanged, after its breach was lost by shortening or by closer looks.

        The looks may hide the flaw, or it may show by chance. Return None if the breach does not
        show again: it then stays unknown, with the program as its example.
        """
        if name not in self.wanted or name in self.found:
            return None
        runs = (self._replay(program, thorough=thorough) for thorough in (False, True))
        again = next((seen for run in runs if (seen := self._first(run, name))), None)
        if again is None:
            return None
        self.found[name] = Violation(name, program, again, shortened=False)
        return SHOWN

    def _settle(self, program: Program, name: str) -> Behind | None:
        """Shorten a program for one breach, and find the contract to blame."""
        most = MOST_STEPS if name in self.wanted else STEPS_TO_BLAME
        attempt = self._attempt(name)
        # A long program that shows the breach by its own reads is not looked at more closely.
        shown = attempt(program)
        if shown is None:
            return self._unsteady(program, name)
        short, shortened = self.shrunk(shown, attempt, most)
        run = self._replay(short)
        breach = self._first(run, name)
        if breach is None:
            return self._unsteady(program, name)
        blamed = contract = self.blamed(short, breach)
        mistake = self.diagnosis.extend(run, breach, contract, self.wanted)
        if mistake is not None and self.diagnosis.is_shown(mistake):
            contract = mistake.breaks
            if self._told_of(mistake) is not None:
                return SHOWN
        if mistake is not None and contract != blamed and (own := self._own_breach(mistake)):
            # The breach that was seen first is only a consequence of the mistake.
            short, breach = own
        elif mistake is not None and len(self.diagnosis.found) > 1:
            alone = self._alone(shown, name, mistake)
            if alone is None and contract == mistake.breaks:
                # Beside other mistakes, the breach may come from one of those.
                alone = self._example(mistake)
            short, breach = alone or (short, breach)
        behind = self._keep(contract, short, breach, shortened=shortened, mistake=mistake)
        if mistake is not None and mistake.breaks in self.wanted - self.found.keys():
            # The breach that the rules blame may be only a consequence of the mistake.
            self._show_mistake(mistake)
        return behind

    def _told_of(self, mistake: Mistake) -> Violation | None:
        """Return the finding that shows a mistake's own contract broken, or None.

        A mistake that has just been found has such a finding only if it has replaced another
        mistake.
        """
        told = (v for v in self.violations if v.mistake is mistake)
        return next((v for v in told if v.contract == mistake.breaks), None)

    def _keep(
        self,
        contract: str,
        program: Program,
        breach: Breach,
        *,
        shortened: bool,
        mistake: Mistake | None,
    ) -> Behind | None:
        """Keep a violation, unless it was found already."""
        also = self._shown_as_well(program)
        # A known mistake says what is wrong. Only without one do the needs help a reader.
        needs = self._needs(program, breach) if mistake is None else ()
        violation = Violation(
            contract,
            program,
            replace(breach, contract=contract),
            needs,
            also - {contract, breach.contract},
            shortened,
            mistake,
        )
        if contract == WORKSPACES:
            self.handed.clear()
            self.handed_further.clear()
        if mistake is None:
            self.diagnosis.memory.told.add(contract)
        if contract not in self.wanted:
            return self._hand_over(violation)
        known = [v for v in self.violations if v.contract == contract]
        unexplained = [v for v in known if v.mistake is None]
        if mistake is None and any(has_cause_of(violation, other) for other in unexplained):
            # What breaks is certain, and another program that shows it says no more.
            return SHOWN
        if known:
            self.further.append(violation)
        else:
            self.found[contract] = violation
        return SHOWN

    def _hand_over(self, violation: Violation) -> Behind:
        """Keep a violation of another family's contract.

        It is not kept if its mistake breaks a further contract: then the violation may only follow
        from that one, which the program does not show by itself. One that no known mistake predicts
        is kept beside another of its contract, unless they have the same cause: what it needs
        explains differences that no mistake does.
        """
        contract, mistake = violation.contract, violation.mistake
        if mistake is not None and mistake.breaks != contract:
            return (mistake.breaks, contract)
        known = [v for v in self.all_handed if v.contract == contract]
        unexplained = [v for v in known if v.mistake is None]
        if not known:
            self.handed[contract] = violation
        elif (
            mistake is None
            and len(known) < MOST_CAUSES
            and not any(has_cause_of(violation, other) for other in unexplained)
        ):
            self.handed_further.append(violation)
        return SHOWN

    def _show_mistake(self, mistake: Mistake) -> None:
        there = self._told_of(mistake)
        if there is not None and self._predicted(there.program, mistake, there.breach):
            return
        example = self._example(mistake)
        if example is None:
            return
        if there is not None:
            self.further = [v for v in self.further if v.program != there.program]
            if self.found.get(there.contract, there).program == there.program:
                self.found.pop(there.contract, None)
        self._keep(mistake.breaks, *example, shortened=True, mistake=mistake)
