"""Judge a saver by programs: given ones first, then those that two drivers make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.tables import isolation, lifecycle, serialization
from saverproof.families.axes import tell_of_axes
from saverproof.families.functional.effort import ProgramEffort, ProgramMaker
from saverproof.families.functional.examples import pinned, remember, remembered
from saverproof.families.functional.hypothesis_search import search_with_hypothesis
from saverproof.families.functional.journal import journal_of
from saverproof.families.functional.pace import Pace
from saverproof.families.functional.settling import Settling
from saverproof.families.functional.shares import (
    DIRECTED,
    HYPOTHESIS,
    PINNED,
    RANDOM,
    REMEMBERED,
    ProgramShares,
)
from saverproof.families.items import Finding, ItemPlan
from saverproof.families.machines.explaining.composing import (
    lacks_paths,
    prunes_like,
    versions_like,
)
from saverproof.families.machines.explaining.patience import Patience
from saverproof.families.machines.explaining.search import ProgramSearch
from saverproof.families.machines.explaining.trials import ProgramRun, Trials, programs
from saverproof.families.machines.explaining.violations import Violation
from saverproof.families.machines.findings import finding, notes
from saverproof.families.machines.registry import MACHINES
from saverproof.families.machines.signatures import judge_standing
from saverproof.families.machines.suiting import able_of, suited, suited_program
from saverproof.families.tally import Tally
from saverproof.judging.attribution.features import of_family
from saverproof.mistakes import MISTAKES, Mistake
from saverproof.mistakes.programs import programs as programs_of_mistakes
from saverproof.programs.axes.crossing import crossing
from saverproof.programs.axes.table import CROSSED
from saverproof.programs.steps.codec import from_json
from saverproof.programs.theme import Theme
from saverproof.savers.execution.store import Store, why_alone
from saverproof.savers.targets.event_loop import Loop, loop_for
from saverproof.savers.targets.target import Target

SLOW_TO_OPEN_MS = 10.0
"""Milliseconds from which opening counts as slow, so that programs share a store."""
_CALLS_IN_BULK = 3_000
"""How many calls of the saver the programs in bulk are estimated to take."""
_BRIEF = 20
"""The most steps of a random program under a budget of time."""
LARGE = serialization.LARGE.id
CLOSE = lifecycle.CLOSE_IDEMPOTENT.id
HOSTILE = isolation.HOSTILE_IDENTIFIERS.id
BY_TURNS = lifecycle.SAVERS_BY_TURNS.id
OF_FILES = (isolation.PRIVATE_FILES.id, serialization.ENCRYPTED_AT_REST.id)
ALONE = "no second saver can be opened beside the first in one process: {}"
SHARED_STORE = "workspaces of this target share a store, in which {} cannot be tried"


@dataclass(slots=True)
class FunctionalJudging:
    """Judges one plan by programs. It stops early once one of the contracts in ``until`` is found
    broken.
    """

    plan: ItemPlan
    target: Target
    tally: Tally
    effort: ProgramEffort
    until: frozenset[str] = frozenset()
    takes_path: bool = False
    closes: bool = True
    serde: Any = None
    shares: ProgramShares = field(default_factory=ProgramShares)
    heavy: bool = False
    able: frozenset[str] = frozenset()
    kept: dict[str, tuple[Violation, Finding]] = field(default_factory=dict)
    tried: list[tuple[Mistake, ProgramRun]] = field(default_factory=list)

    def run(self) -> None:
        """Run the programs of every theme, follow up what they show, and fill the tally."""
        self.able = able_of(self.plan.facts, self.target)
        with loop_for(self.plan.api) as loop:
            # What is not settled is looked for on other savers: the loop is needed to the end.
            self._judge(loop)

    def _judge(self, loop: Loop) -> None:
        plan, tally, wanted = self.plan, self.tally, self.tally.wanted
        trials = self._trials(loop, wanted)
        search = ProgramSearch(trials, wanted)
        tally.differences = search.ledger
        chosen = self._themes(trials, search)
        standing = judge_standing(
            plan.facts, plan.api, self.target, wanted, takes_path=self.takes_path
        )
        with self._shared_store(trials):
            if not self.until or self.until - standing.checked.keys():
                self._take_pinned(trials, search)
                self._enumerate(trials, search)
                self._cross_axes(trials, search)
                turns = [self._search, self._take_bulk]
                for take in reversed(turns) if self.until == {LARGE} else turns:
                    take(trials, search, chosen)
                self._try_mistakes(trials, search)
                search.settle_the_rest()
                self._take_remembered(trials, search)
                search.explain_by_one()
                search.drop_what_is_refuted()
                search.show_mistakes()
        # The family of a contract may find another mistake behind it than this one did.
        handed = [(one, search.alike(one)) for one in search.others]
        own = [(one, search.instead(one)) for one in search.violations]
        if not self.closes:
            tally.rule_out(CLOSE, "the saver has no method that closes it")
        if self.target.server is not None:
            tally.not_exercised(OF_FILES, "a server keeps its files where nobody looks into them")
        remember(plan, (violation.program for violation in search.violations))
        # Breaches that simpler programs explain were counted under the contracts first blamed.
        tally.checked.update(dict.fromkeys(search.found, 1) | standing.checked | trials.checked)
        tally.findings += [one for one in standing.findings if one.contract not in search.found]
        if plan.facts.get("shares"):
            self._tell_of_shared_store()
        tally.findings += [self._told(one, alike) for one, alike in own]
        tally.handed += [finding(self.target, plan.api, one, alike=alike) for one, alike in handed]
        tally.operations, tally.saver_s = trials.calls, trials.seconds
        tally.sections["programs"] = self.shares.as_data()
        settling = Settling(tally, search, self.tried)
        broken = settling.broken()
        in_the_way = () if tally.budget.left_out else broken
        tell_of_axes(tally, trials.touched, self.able, heavy=self.heavy, broken=in_the_way)
        settling.settle(broken)

    def _told(self, violation: Violation, alike: Iterable[Mistake]) -> Finding:
        """Return a violation in words. Words from when it was found are used again."""
        kept, in_words = self.kept.get(violation.contract, (None, None))
        if kept is violation and in_words is not None:
            return replace(in_words, mistakes_alike=notes(alike))
        return finding(self.target, self.plan.api, violation, alike=alike)

    def _tell_of_shared_store(self) -> None:
        """Mark as not exercised what a shared store keeps the run from trying.

        That is: lists over all threads, an empty store, and names without a prefix of the kit's
        own.
        """
        names = SHARED_STORE.format("names that begin as hostile ones do")
        self.tally.not_exercised([HOSTILE], names)
        unreached = (name for name in self.tally.wanted if not self.tally.checked[name])
        self.tally.not_exercised(unreached, SHARED_STORE.format("what others may be in"))

    def _trials(self, loop: Loop, wanted: frozenset[str]) -> Trials:
        plan = self.plan
        return Trials(
            self.target,
            Path(plan.folder),
            loop,
            ("sync", "async") if plan.api == "crossed" else (plan.api,),
            features=of_family(wanted),
            shallow=Capability.HISTORY not in plan.facts["capabilities"],
            on_step=journal_of(plan),
            avoided=frozenset(plan.without),
            machine=MACHINES[plan.family].over,
            patience=self._patience(),
            axes=CROSSED.get(plan.family, ()),
        )

    def _patience(self) -> Patience:
        """Return the limit on follow-ups. If the item has a time budget, they may take half as much
        again.
        """
        limit_s = self.plan.budget_s
        return Patience() if limit_s is None else Patience(math.inf, limit_s / 2)

    @contextmanager
    def _shared_store(self, trials: Trials) -> Iterator[None]:
        """Share one store among programs that need none of their own, if opening one takes long.

        It is not shared if operations slow down as the store grows.
        """
        facts = self.plan.facts
        if facts["opens_ms"] < SLOW_TO_OPEN_MS or Capability.LARGE not in facts["capabilities"]:
            yield
            return
        with Store(self.target, trials.folder, trials.loop, trials.apis) as store:
            trials.shared = store
            yield

    def _take_pinned(self, trials: Trials, search: ProgramSearch) -> None:
        """Run the programs that the author has pinned."""
        search.watch_inputs = True
        for program in pinned(self.target, self.plan.facts):
            run = trials.replay(program, watch_inputs=True, count=True)
            self._follow_up(trials, search, PINNED, run)

    def _take_remembered(self, trials: Trials, search: ProgramSearch) -> None:
        """Run the programs that showed a flaw in an earlier run.

        They come last: which mistakes explain a saver depends on the order of the programs, and a
        second run of a saver must come to the same result as the first.
        """
        search.watch_inputs = True
        before = len(search.ledger.open)
        for program in remembered(self.plan):
            # The saver may have lost an operation since.
            taken = suited_program(program, self.able, self.serde)
            run = trials.replay(taken, watch_inputs=True, count=True)
            self._follow_up(trials, search, REMEMBERED, run)
        if len(search.ledger.open) > before:
            search.settle_the_rest()

    def _enumerate(self, trials: Trials, search: ProgramSearch) -> None:
        """Run the family's written programs, which enumerate finite sets whatever the seed is."""
        machine = MACHINES[self.plan.family]
        watched = search.watch_inputs = any(theme.watch_inputs for theme in machine.themes)
        for program in machine.examples if ProgramMaker.ENUMERATED in self.effort.makers else ():
            taken = suited_program(program, self.plan.facts["capabilities"], self.serde)
            run = trials.replay(taken, thorough=False, watch_inputs=watched, count=True)
            self._follow_up(trials, search, DIRECTED, run)
            if self.until & search.found.keys():
                return

    def _cross_axes(self, trials: Trials, search: ProgramSearch) -> None:
        """Run the programs that bring the points of the axes together in pairs."""
        search.watch_inputs = False
        if self.until & search.found.keys() or ProgramMaker.CROSSED not in self.effort.makers:
            return
        self.heavy = self.effort.heavy and self._has_room_for_bulk()
        for program in crossing(self.plan.family, self.able, heavy=self.heavy):
            taken = suited_program(program, self.able, self.serde)
            with trials.sharing():
                run = trials.replay(taken, thorough=False, count=True)
            self._follow_up(trials, search, DIRECTED, run)
            if self.until & search.found.keys():
                return

    def _search(self, trials: Trials, search: ProgramSearch, chosen: list[Theme]) -> None:
        pace = Pace(self.tally.budget)
        makers = self.effort.makers
        light = (t for t in chosen if not t.heavy and _maker_of(t) in makers)
        for theme, number in programs(light, self.effort.steps):
            if theme.script is None and not pace.has_room("random programs"):
                continue
            seed = f"{self.plan.seed}:{self.plan.family}:{self.plan.api}:{theme.name}:{number}"
            search.watch_inputs = theme.watch_inputs
            themed = theme.with_name_set(number + self.plan.seed)
            made_by = RANDOM if theme.script is None else DIRECTED
            with pace.timed(theme):
                run = trials.make(themed, Random(seed))
            self._follow_up(trials, search, made_by, run)
            if self.until & search.found.keys():
                return
        for theme in chosen if ProgramMaker.HYPOTHESIS in makers else ():
            if theme.script is None:
                search.watch_inputs = theme.watch_inputs
                search_with_hypothesis(
                    MACHINES[self.plan.family],
                    trials,
                    theme,
                    pace.examples(self.effort.examples),
                    self.plan.seed,
                    partial(self._follow_up, trials, search, HYPOTHESIS),
                )

    def _try_mistakes(self, trials: Trials, search: ProgramSearch) -> None:
        """Run the programs of known mistakes."""
        search.watch_inputs = True
        for mistake in self._mistakes_to_try(trials, search):
            program = from_json(programs_of_mistakes()[mistake.name])
            taken = suited_program(program, self.able, self.serde)
            run = trials.replay(taken, watch_inputs=True, count=True)
            self.tried.append((mistake, run))
            self._follow_up(trials, search, DIRECTED, run)
            if self.until & search.found.keys():
                return

    def _mistakes_to_try(self, trials: Trials, search: ProgramSearch) -> Iterator[Mistake]:
        """Yield the mistakes of contracts that no program has reached, as happens where there is no
        time for random ones: until a contract is reached, and then while there is time.

        If the saver was seen to be wrong, yield those of all contracts: where many flaws meet,
        random programs may show some of them only together. Those that show at a large size alone
        come last, and only if there is time.
        """
        if ProgramMaker.MISTAKES not in self.effort.makers:
            return
        known = [
            mistake
            for mistake in MISTAKES
            if mistake.breaks in self.tally.wanted and mistake.name in programs_of_mistakes()
        ]
        if search.ledger.total:
            yield from (mistake for mistake in known if not _is_large(mistake))
            # A call with 20,000 writes may take so long that the process is cut off.
            self._keep(trials, search, settled=True)
            yield from (
                mistake for mistake in known if _is_large(mistake) and self._has_room_for_bulk()
            )
            return
        reached, budget = trials.checked.keys(), self.tally.budget
        for mistake in [
            each for each in known if each.breaks not in reached and not _is_large(each)
        ]:
            goes_on = not trials.checked.get(mistake.breaks) or budget.has_room()
            budget.count("programs of known mistakes", done=goes_on)
            if goes_on:
                yield mistake

    def _take_bulk(self, trials: Trials, search: ProgramSearch, chosen: list[Theme]) -> None:
        """Run the programs in which a process may die. They come last, when all else is settled."""
        makers = self.effort.makers
        scripted = [t for t in chosen if t.script is not None and _maker_of(t) in makers]
        heavy = [theme for theme in scripted if theme.heavy]
        if not heavy or self.until & search.found.keys():
            return
        self._keep(trials, search, settled=True)
        for theme in heavy:
            if self._has_room_for_bulk() and theme.script is not None:
                search.watch_inputs = theme.watch_inputs
                run = trials.replay(
                    theme.script(Random(0)), watch_inputs=theme.watch_inputs, count=True
                )
                self._follow_up(trials, search, DIRECTED, run)

    def _keep(self, trials: Trials, search: ProgramSearch, *, settled: bool) -> None:
        """Report what is known, so that it survives the death of this process.

        Each finding is put into words once, as soon as it is found.
        """
        self.kept = {name: told for name, told in self.kept.items() if name in search.found}
        for name, one in search.found.items():
            if name not in self.kept or self.kept[name][0] is not one:
                self.kept[name] = one, finding(self.target, self.plan.api, one)
        doubtful = {*search.ledger.shortest(), LARGE}
        sure = {name for name in trials.checked if name not in doubtful} if settled else set()
        open_ = Settling(self.tally, search).unexplained(search.found) if settled else {}
        self.tally.keep(
            [told for _, told in self.kept.values()], trials.checked, settled=sure, unsettled=open_
        )

    def _has_room_for_bulk(self) -> bool:
        """Return whether there is time for the programs in bulk. They may be left out, since they
        judge only contracts that are advice.
        """
        seconds = _CALLS_IN_BULK * self.plan.facts.get("call_ms", 0.0) / 1_000
        room = self.tally.budget.has_room(seconds, share=0.4)
        self.tally.budget.count("programs in bulk", done=room)
        return room

    def _follow_up(
        self, trials: Trials, search: ProgramSearch, made_by: str, run: ProgramRun
    ) -> None:
        self.shares.note(made_by, run)
        search.follow_up(run)
        if len(search.found) > len(self.kept):
            self._keep(trials, search, settled=False)
        self.tally.operations = trials.calls
        self.tally.beat()

    def _themes(self, trials: Trials, search: ProgramSearch) -> list[Theme]:
        """Return the family's themes that suit this saver, with values that its serializer
        keeps.
        """
        plan = self.plan
        with Store(self.target, Path(plan.folder), trials.loop, trials.apis) as store:
            self.serde = store.saver.serde
            search.diagnosis.predictor.next_version = versions_like(store.saver)
            search.diagnosis.predictor.prune_whole = prunes_like(store.saver)
            search.diagnosis.predictor.without_paths = lacks_paths(store.saver)
            self.takes_path = store.drivers[0].takes_paths
            self.closes = hasattr(store.saver, "close") or hasattr(store.saver, "aclose")
            if BY_TURNS in self.tally.wanted and (why := why_alone(store)):
                self.tally.not_exercised([BY_TURNS], ALONE.format(why))
            chosen = [t for t in MACHINES[plan.family].themes if self.effort.bulk or not t.heavy]
            return [self._brief(theme) for theme in suited(chosen, self.serde, self.able)]

    def _brief(self, theme: Theme) -> Theme:
        """Return the theme, with shorter programs under a budget.

        Then each theme gets a turn before any gets its second.
        """
        if self.plan.budget_s is None:
            return theme
        return replace(theme, length=min(theme.length, _BRIEF))


def _maker_of(theme: Theme) -> ProgramMaker:
    return ProgramMaker.RANDOM if theme.script is None else ProgramMaker.SCRIPTED


def _is_large(mistake: Mistake) -> bool:
    """Return whether the program of a mistake has something of a size that takes seconds."""
    return mistake.heavy or mistake.breaks == LARGE
