"""Judges the concurrency of one saver through one API: many callers, and everyone in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.registry import contract
from saverproof.contracts.tables.concurrency import TABLE
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.axes import tell_of_axes
from saverproof.families.budget import batched
from saverproof.families.concurrency.agreeing import Reader, agree
from saverproof.families.concurrency.bench import CallerBench
from saverproof.families.concurrency.contract_ids import (
    FIRST,
    INSTANCES,
    ITERATION,
    NOTHING,
    ORDER,
    PROCESSES,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import EFFORTS, SLOW, SLOW_CALL_MS, SceneEffort
from saverproof.families.concurrency.histories import (
    AT_ONCE,
    CallPlan,
    Played,
    Sharing,
    ended,
    locked,
    play,
    play_at_once,
    rehearsal,
    script_of,
)
from saverproof.families.concurrency.iteration import By
from saverproof.families.concurrency.judging import CUT_OFF, Judgement, judge_history, semantics_of
from saverproof.families.concurrency.overtaking import overtake
from saverproof.families.concurrency.record import Problem, SceneRecord
from saverproof.families.concurrency.records import CallKind
from saverproof.families.concurrency.replaying import replay
from saverproof.families.concurrency.reporting import finding
from saverproof.families.concurrency.scenes import ask, iterate, race
from saverproof.families.concurrency.sequential_spec import Semantics
from saverproof.families.concurrency.workload import Able, able_of
from saverproof.families.tally import Tally
from saverproof.items import ItemPlan
from saverproof.machines.suiting import able_of as points_of
from saverproof.programs.axes.log import AxisLog
from saverproof.targets.target import Target

HISTORIES = frozenset({THREADS, PROCESSES, TORN, ORDER})
ENOUGH = 3
"""Histories of one kind that show a breach: more of them add nothing."""


_SHARES = {Sharing.SHARED: 0.6, Sharing.INSTANCES: 0.8, Sharing.PROCESSES: 1.0}
"""By which part of a budget the histories of each kind are to be over."""


@dataclass(frozen=True, slots=True)
class ConcurrencyFamily:
    """Many callers at once, each of whom is to be answered."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Play every scene; what follows from a flaw is not another one.

        Raises:
            HarnessError: no process could be started for the scenes.
        """
        judging = ConcurrencyJudging(plan, target, tally, SceneRecord(tally))
        if tally.wanted:
            judging.run()
        found = judging.record.found
        implied = {other for name in found for other in contract(name).implies}
        shown = [one for name, one in found.items() if name in tally.wanted - implied]
        tally.findings += [finding(plan, target, one) for one in shown]
        for name in implied - {one.problem.contract for one in shown}:
            tally.withdraw(name, "not told apart from what is broken, from which it follows")
        tally.sections["concurrency"] = judging.record.as_data()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Whether a recorded scene still breaks the contract."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Savers are called in child processes, and no journal is written."""
        return Blame.first(self.table, journal)


@dataclass(slots=True)
class ConcurrencyJudging:
    """The judging of one plan."""

    plan: ItemPlan
    target: Target
    tally: Tally
    record: SceneRecord
    unordered: bool = False
    """Whether answers fit no order of the calls even where one caller makes them all."""
    wrong_alone: bool = False
    """Whether anything else is wrong with the answers to one caller alone."""
    apart: bool = False
    """Whether stores have nothing in common, so that several can be worked on at once."""

    def run(self) -> None:
        """Play every scene, each in processes of its own: one that hangs stops no other."""
        with CallerBench.of(self.plan, self.target) as bench:
            effort = self._effort(bench)
            if ITERATION in self.tally.wanted and "list" in self._operations():
                hung = False
                for by in By:
                    # A listing that was left is in the way of others as one that goes on is.
                    hung = (hung and by is By.LEFT) or iterate(bench, by, self.record) or hung
                    self.tally.beat()
            if NOTHING in self.tally.wanted:
                ask(bench, self.record)
            if INSTANCES in self.tally.wanted:
                self._instances(bench)
            if FIRST in self.tally.wanted:
                file = None
                for number in self.tally.budget.within(range(effort.races), "races"):
                    file = race(bench, number, self.record, file)
                    self.tally.beat()
            if self.tally.wanted & HISTORIES:
                self._histories(bench, effort)

    def _instances(self, bench: CallerBench) -> None:
        able = points_of(self.plan.facts, self.target).union(self._operations())
        log = AxisLog()
        for reader in Reader:
            if reader is Reader.BESIDE or Capability.MANY_PROCESSES in able:
                agree(bench, reader, able, self.record, log)
                self.tally.beat()
        tell_of_axes(self.tally, log, able, heavy=False)

    def _operations(self) -> list[str]:
        operations: list[str] = self.plan.facts["operations"][self.plan.api]
        return operations

    def _effort(self, bench: CallerBench) -> SceneEffort:
        if not bench.slow:
            return EFFORTS[self.plan.profile]
        self.tally.note(f"few scenes, in fresh interpreters each: {bench.harness.reason}")
        return SLOW

    # --- histories -------------------------------------------------------------------------

    def _histories(self, bench: CallerBench, effort: SceneEffort) -> None:
        able = able_of({*self.plan.facts["capabilities"], *self._operations()})
        semantics = self._rehearsed(bench, able, effort)
        if semantics is None:
            return
        settings = [(Sharing.SHARED, effort.shared)]
        if PROCESSES in self.tally.wanted and not self.wrong_alone:
            settings += [
                (Sharing.INSTANCES, effort.instances),
                (Sharing.PROCESSES, effort.processes),
            ]
        for sharing, number in settings:
            self._histories_of(bench, sharing, number, able, effort, semantics)
        if PROCESSES in self.tally.wanted and not self.wrong_alone:
            self._lock(bench, able, effort, semantics)
            if effort.overtaken and able.history:
                overtake(bench, able, self.record)
        if self.tally.checked[PROCESSES]:
            self.tally.unknown.pop(PROCESSES, None)

    def _rehearsed(self, bench: CallerBench, able: Able, effort: SceneEffort) -> Semantics | None:
        """What the saver makes of the same calls by one caller; None if that is wrong already."""
        script = rehearsal(f"{self.plan.seed}:{self.plan.api}", able, effort)
        played = play(bench, script)
        facts = self.plan.facts
        quick = facts.get("call_ms", 0.0) < SLOW_CALL_MS
        self.apart = played.in_files and quick and not facts.get("on_server", False)
        semantics = semantics_of(played.events)
        judgement = judge_history(played.events, shared=True, semantics=semantics)
        wrong = next(iter(judgement.problems), None)
        why = played.trouble or played.hung or played.slow or played.died
        alone = "it does not get the same calls right from one caller alone"
        if why:
            self.tally.unknown |= dict.fromkeys(HISTORIES, f"{alone}: {why}"[:600])
            return None
        if wrong is not None:
            # Whatever is wrong there, the rest can be told: of one that shows wrong contents, what
            # many callers make it raise.
            self.unordered, self.wrong_alone = True, judgement.broken() != {ORDER}
            unknown = HISTORIES if self.wrong_alone else {ORDER}
            self.tally.unsure(unknown, f"{alone}: {wrong.summary}"[:600])
        return semantics

    def _histories_of(
        self,
        bench: CallerBench,
        sharing: Sharing,
        number: int,
        able: Able,
        effort: SceneEffort,
        semantics: Semantics,
    ) -> None:
        contract_of_loss = THREADS if sharing is Sharing.SHARED else PROCESSES
        broken = judged = slow = 0
        why = ""
        name = f"{self.plan.seed}:{self.plan.api}"
        scripts = [script_of(sharing, turn, name, able, effort) for turn in range(number)]
        at_once = AT_ONCE[sharing] if self.apart else 1
        batches = list(batched(scripts, at_once))
        batch_of = f"batches of {at_once} " if at_once > 1 else ""
        left_out = f"{batch_of}histories by {sharing.value}"
        for batch in self.tally.budget.within(batches, left_out, _SHARES[sharing]):
            all_played = play_at_once(bench, batch)
            self.tally.beat()
            for played in all_played:
                self.record.scenes[sharing.value] += 1
                problems = ended(played)
                if not problems and (played.trouble or played.slow):
                    why = played.trouble or played.slow
                    slow += bool(played.slow)
                    self.tally.note(f"{sharing.value}: {why}"[:300])
                else:
                    judged += 1
                    problems = self._wrong_in(bench, played, semantics)
                self.record.saw(problems, {"scene": "history", **played.script.to_json()})
                broken += bool(problems)
            # What hangs or dies costs its watchdog, once.
            over = any(played.hung or played.died for played in all_played)
            if over or slow >= 2 or broken >= ENOUGH:
                break
        if number and not judged and not self.tally.checked[contract_of_loss]:
            self.tally.unknown.setdefault(contract_of_loss, f"no history was recorded: {why}"[:600])

    def _wrong_in(self, bench: CallerBench, played: Played, semantics: Semantics) -> list[Problem]:
        """What is wrong with how a history ended, or with its answers."""
        shared = played.script.sharing is Sharing.SHARED
        judgement = judge_history(played.events, shared=shared, semantics=semantics)
        self._count(judgement, THREADS if shared else PROCESSES)
        problems = ended(played) or self.of_callers(judgement.problems)
        if self.wrong_alone:
            return self._of_many(bench, played.script, problems, semantics)
        return problems

    def _of_many(
        self, bench: CallerBench, script: CallPlan, problems: list[Problem], semantics: Semantics
    ) -> list[Problem]:
        """Errors alone, without those that the same calls raise when one caller makes them all."""
        problems = [problem for problem in problems if problem.is_an_error]
        if not problems:
            return []
        played = play(bench, script.by_one_caller())
        if ended(played) or played.trouble or played.slow:
            return []
        alone = judge_history(played.events, shared=True, semantics=semantics).problems
        known = {problem.summary for problem in alone}
        return [problem for problem in problems if problem.summary not in known]

    def _lock(
        self, bench: CallerBench, able: Able, effort: SceneEffort, semantics: Semantics
    ) -> None:
        played = locked(bench, effort.hold_s, able)
        if played is None or played.trouble or played.slow:
            return
        self.record.scenes[Sharing.LOCKED.value] += 1
        judgement = judge_history(played.events, shared=False, semantics=semantics)
        self._count(judgement, PROCESSES)
        problems = ended(played) or self.of_callers(judgement.problems)
        self.record.saw(problems, {"scene": "lock held", "hold_s": effort.hold_s})

    def _count(self, judgement: Judgement, name: str) -> None:
        tally = self.tally
        tally.operations += judgement.acknowledged + judgement.raised
        tally.agreed(name, judgement.acknowledged)
        tally.agreed(TORN, judgement.reads)
        tally.agreed(ORDER, 0 if self.unordered else judgement.keys)
        if judgement.cut_off:
            tally.unknown[ORDER] = CUT_OFF
        if name == PROCESSES:
            self.record.raised.update(error[:120] for error in judgement.errors)

    def of_callers(self, problems: list[Problem]) -> list[Problem]:
        """Without those that say nothing of callers, or no more than what is known of listings."""
        if self.unordered:
            problems = [problem for problem in problems if problem.contract != ORDER]
        known = self.record.found.get(ITERATION)
        if known is None or "raised" not in known.problem.observed:
            return problems
        error = known.problem.observed.rpartition("raised ")[2].partition(":")[0]
        return [problem for problem in problems if not _is_of_a_listing(problem, error)]


def _is_of_a_listing(problem: Problem, error: str) -> bool:
    """Whether it is that a listing raised this, whatever was called meanwhile."""
    if problem.contract not in (THREADS, TORN) or not problem.events:
        return False
    last = problem.events[-1]
    return last.operation.kind is CallKind.LIST and (last.error or "").startswith(error)
