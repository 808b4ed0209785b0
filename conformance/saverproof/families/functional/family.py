"""Judges the families that programs put to the test, through one API of one saver."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables import lifecycle, serialization
from saverproof.execution.store import Store
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.functional.effort import EFFORTS, ProgramEffort
from saverproof.families.functional.examples import remember, remembered
from saverproof.families.functional.hypothesis_search import search_with_hypothesis
from saverproof.families.functional.replay import replay
from saverproof.families.tally import Tally
from saverproof.items import ItemPlan, Outcome
from saverproof.judging.attribution import answered
from saverproof.judging.attribution.features import of_family
from saverproof.machines.findings import finding
from saverproof.machines.registry import MACHINES
from saverproof.machines.search import ProgramSearch
from saverproof.machines.signatures import judge_standing
from saverproof.machines.suiting import suited, suited_program
from saverproof.machines.trials import Trials, programs
from saverproof.programs.theme import Theme
from saverproof.scripts import death_reproducer
from saverproof.steps.codec import from_json, step_from_json, step_to_json
from saverproof.steps.definitions import Step
from saverproof.steps.describing import describe
from saverproof.targets.event_loop import Loop, loop_for
from saverproof.targets.target import Target

SLOW_TO_OPEN_MS = 20.0
_LONGEST_REASON = 1_200
LARGE = serialization.LARGE.id
CLOSE = lifecycle.CLOSE_IDEMPOTENT.id


@dataclass(frozen=True, slots=True)
class FunctionalFamily:
    """A family whose contracts are judged by programs, each answer held against the model's."""

    table: FamilyTable

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Run the programs of every theme, and follow up what they show."""
        FunctionalJudging(plan, target, tally, EFFORTS[plan.profile]).run()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Whether a recorded program still breaks the contract."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """The contract of the last step: the journal has the steps of one program."""
        contract = answered(step_from_json(journal[-1]))
        program = from_json(journal)
        return Blame(
            contract=contract,
            steps=tuple(describe(step) for step in program),
            program=list(journal),
            reproducer=death_reproducer(target, program, plan.api, name=contract),
        )


def hunt(plan: ItemPlan, target: Target, contract: str, steps: int = 20_000) -> Outcome:
    """Search with the random driver alone, until the contract is found broken.

    The outcome may name other contracts that were found broken on the way.
    """
    effort = ProgramEffort(steps=steps, examples=0, bulk=contract == LARGE)
    tally = Tally(plan)
    FunctionalJudging(plan, target, tally, effort, until=contract).run()
    return tally.outcome()


@dataclass(slots=True)
class FunctionalJudging:
    """The judging of one plan by programs, ``until`` one contract is found broken."""

    plan: ItemPlan
    target: Target
    tally: Tally
    effort: ProgramEffort
    until: str | None = None
    takes_path: bool = False
    closes: bool = True

    def run(self) -> None:
        """Run the programs of every theme, follow up what they show, and tell the tally."""
        plan, tally, wanted = self.plan, self.tally, self.tally.wanted
        with loop_for(plan.api) as loop:
            trials = self._trials(loop, wanted)
            search = ProgramSearch(trials, wanted, differences=tally.differences)
            chosen = self._themes(trials)
            standing = judge_standing(
                plan.facts, plan.api, self.target, wanted, takes_path=self.takes_path
            )
            with self._shared_store(trials):
                if self.until not in standing.checked:
                    self._try_again(trials, search)
                    self._enumerate(trials, search)
                    self._search(trials, search, chosen)
                    account = tally.differences.account(list(search.found), wanted)
                    search.look_once_more((*account.unknown, *(n for n, *_ in account.elsewhere)))
        if not self.closes:
            tally.rule_out(CLOSE, "the saver has no method that closes it")
        remember(plan, (violation.program for violation in search.found.values()))
        # What is settled by simpler programs was counted as whatever it first looked like.
        tally.checked.update(dict.fromkeys(search.found, 1) | standing.checked | trials.checked)
        tally.findings += standing.findings
        tally.findings += [finding(self.target, plan.api, one) for one in search.found.values()]
        tally.operations, tally.saver_s = trials.calls, trials.seconds
        self._settle(search)

    def _settle(self, search: ProgramSearch) -> None:
        """A contract with a difference that nothing found explains is not known to hold."""
        shown = [found.contract for found in self.tally.findings]
        differences = self.tally.differences
        account = differences.account(shown, self.tally.applicable)
        for name in (*account.unknown, *(first for first, *_ in account.elsewhere)):
            differences.examples[name] = tuple(map(describe, search.examples[name]))
        for name, times in account.unknown.items():
            program = "; ".join(differences.examples[name])
            why = f"{times} differences could not be settled; the first was shown by: {program}"
            self.tally.unsure([name], why[:_LONGEST_REASON])

    def _trials(self, loop: Loop, wanted: frozenset[str]) -> Trials:
        plan = self.plan
        return Trials(
            self.target,
            Path(plan.folder),
            loop,
            ("sync", "async") if plan.api == "crossed" else (plan.api,),
            features=of_family(wanted),
            shallow=Capability.HISTORY not in plan.facts["capabilities"],
            on_step=self._journal(),
            machine=MACHINES[plan.family].over,
        )

    @contextmanager
    def _shared_store(self, trials: Trials) -> Iterator[None]:
        """One store for the programs that need none of their own, if opening one takes long.

        Not where every operation takes the longer, the more a store holds.
        """
        facts = self.plan.facts
        if facts["opens_ms"] < SLOW_TO_OPEN_MS or Capability.LARGE not in facts["capabilities"]:
            yield
            return
        with Store(self.target, trials.folder, trials.loop, trials.apis) as store:
            trials.shared = store
            yield
            trials.calls += store.total_calls
            trials.seconds += store.total_seconds

    def _try_again(self, trials: Trials, search: ProgramSearch) -> None:
        """Follow up what showed a flaw in an earlier run."""
        search.watch_inputs = True
        for program in remembered(self.plan):
            search.follow_up(trials.replay(program, watch_inputs=True, count=True))

    def _enumerate(self, trials: Trials, search: ProgramSearch) -> None:
        """Take the machine's own programs: finite sets are enumerated, whatever the dice say."""
        search.watch_inputs = False
        for program in MACHINES[self.plan.family].examples:
            taken = suited_program(program, self.plan.facts["capabilities"])
            search.follow_up(trials.replay(taken, thorough=False, count=True))
            self._beat(trials)
            if self.until in search.found:
                return

    def _search(self, trials: Trials, search: ProgramSearch, chosen: list[Theme]) -> None:
        for theme, number in programs(chosen, self.effort.steps):
            seed = f"{self.plan.seed}:{self.plan.family}:{self.plan.api}:{theme.name}:{number}"
            search.watch_inputs = theme.watch_inputs
            themed = theme.with_name_set(number + self.plan.seed)
            search.follow_up(trials.make(themed, Random(seed)))
            self._beat(trials)
            if self.until in search.found:
                return
        for theme in chosen:
            if theme.script is None:
                search.watch_inputs = theme.watch_inputs
                search_with_hypothesis(
                    MACHINES[self.plan.family],
                    trials,
                    search,
                    theme,
                    self.effort.examples,
                    self.plan.seed,
                    self._beat,
                )

    def _themes(self, trials: Trials) -> list[Theme]:
        """The family's themes that this saver can take, with values that its serializer keeps."""
        plan = self.plan
        able = {*plan.facts["capabilities"], *(["durable"] if plan.facts["durable"] else [])}
        with Store(self.target, Path(plan.folder), trials.loop, trials.apis) as store:
            serde = store.saver.serde
            self.takes_path = store.drivers[0].takes_paths
            self.closes = hasattr(store.saver, "close") or hasattr(store.saver, "aclose")
            chosen = [t for t in MACHINES[plan.family].themes if self.effort.bulk or not t.heavy]
            return list(suited(chosen, serde, able))

    def _beat(self, trials: Trials) -> None:
        self.tally.operations = trials.calls
        self.tally.beat()

    def _journal(self) -> Callable[[Step, int], None] | None:
        """Writes the steps of the program under way, so that a death can be told from them."""
        if self.plan.journal is None:
            return None
        path = Path(self.plan.journal)

        def write(step: Step, before: int) -> None:
            with path.open("a" if before else "w", encoding="utf-8") as journal:
                journal.write(json.dumps(step_to_json(step)) + "\n")

        return write
