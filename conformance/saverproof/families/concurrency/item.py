"""Judges the concurrency of one saver through one API: many callers, and everyone in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from saverproof.contracts.registry import contract, contracts
from saverproof.families.concurrency.bench import Bench
from saverproof.families.concurrency.contract_ids import (
    FIRST,
    ITERATION,
    NOTHING,
    ORDER,
    PROCESSES,
    THREADS,
    TORN,
)
from saverproof.families.concurrency.effort import EFFORTS, SLOW, Effort
from saverproof.families.concurrency.histories import (
    Crowd,
    Played,
    locked,
    play,
    rehearsal,
    script_of,
)
from saverproof.families.concurrency.iteration import By
from saverproof.families.concurrency.judging import Judgement, judge_history, semantics_of
from saverproof.families.concurrency.record import Problem, Record
from saverproof.families.concurrency.records import Kind
from saverproof.families.concurrency.reporting import finding
from saverproof.families.concurrency.scenes import ask, iterate, race
from saverproof.families.concurrency.sequential_spec import Semantics
from saverproof.families.concurrency.workload import Able, able_of
from saverproof.items import Outcome, Plan
from saverproof.targets.target import Target

FAMILY = "concurrency"
HISTORIES = frozenset({THREADS, PROCESSES, TORN, ORDER})
ENOUGH = 3
"""Histories of one kind that show a breach: more of them add nothing."""
_EVERY_S = 0.2

Progress = Callable[[dict[str, Any]], None]


def judge(plan: Plan, target: Target, progress: Progress) -> Outcome:
    """Judge the plan's saver. Whatever it does is an answer; nothing of it is raised.

    Raises:
        HarnessError: no process could be started for the scenes.
    """
    from saverproof.families.functional.judge import applicable

    started = time.perf_counter()
    reasons = {one.id: applicable(plan, one) for one in contracts(FAMILY)}
    wanted = frozenset(name for name, reason in reasons.items() if reason is None)
    item = Item(plan, target, progress, wanted)
    if wanted:
        item.run()
    record = item.record
    # What follows from a flaw is not another one.
    implied = {name for found in record.found for name in contract(found).implies}
    shown = {name: one for name, one in record.found.items() if name in wanted - implied}
    for name in implied - shown.keys():
        record.checked.pop(name, None)
        record.unknown[name] = "not told apart from what is broken, from which it follows"
    return Outcome(
        checked={name: times for name, times in record.checked.items() if name in wanted and times},
        findings=tuple(finding(plan, target, one) for one in shown.values()),
        unknown={n: why for n, why in record.unknown.items() if n in wanted - shown.keys()},
        inapplicable={name: reason for name, reason in reasons.items() if reason is not None},
        operations=record.operations,
        saver_s=0.0,
        total_s=time.perf_counter() - started,
        extra={"concurrency": record.as_data()},
    )


@dataclass(slots=True)
class Item:
    """The judging of one plan."""

    plan: Plan
    target: Target
    progress: Progress
    wanted: frozenset[str]
    record: Record = field(default_factory=Record)
    unordered: bool = False
    """Whether answers fit no order of the calls even where one caller makes them all."""
    _last_word: float = 0.0

    def run(self) -> None:
        """Play every scene, each in processes of its own: one that hangs stops no other."""
        with Bench.of(self.plan, self.target) as bench:
            effort = self._effort(bench)
            if ITERATION in self.wanted and "list" in self._operations():
                hung = False
                for by in By:
                    # A listing that was left is in the way of others as one that goes on is.
                    hung = (hung and by is By.LEFT) or iterate(bench, by, self.record) or hung
                    self._tell()
            if NOTHING in self.wanted:
                ask(bench, self.record)
            if FIRST in self.wanted:
                file = None
                for number in range(effort.races):
                    file = race(bench, number, self.record, file)
                    self._tell()
            if self.wanted & HISTORIES:
                self._histories(bench, effort)

    def _operations(self) -> list[str]:
        operations: list[str] = self.plan.facts["operations"][self.plan.api]
        return operations

    def _effort(self, bench: Bench) -> Effort:
        if not bench.slow:
            return EFFORTS[self.plan.profile]
        self.record.note(f"few scenes, in fresh interpreters each: {bench.harness.reason}")
        return SLOW

    # --- histories -------------------------------------------------------------------------

    def _histories(self, bench: Bench, effort: Effort) -> None:
        able = able_of({*self.plan.facts["capabilities"], *self._operations()})
        semantics = self._rehearsed(bench, able, effort)
        if semantics is None:
            return
        crowds = [(Crowd.SHARED, effort.shared)]
        if PROCESSES in self.wanted:
            crowds += [(Crowd.INSTANCES, effort.instances), (Crowd.PROCESSES, effort.processes)]
        for crowd, number in crowds:
            self._crowd(bench, crowd, number, able, effort, semantics)
        if PROCESSES in self.wanted:
            self._lock(bench, able, effort, semantics)
        if self.record.checked[PROCESSES]:
            self.record.unknown.pop(PROCESSES, None)

    def _rehearsed(self, bench: Bench, able: Able, effort: Effort) -> Semantics | None:
        """What the saver makes of the same calls by one caller; None if that is wrong already."""
        script = rehearsal(f"{self.plan.seed}:{self.plan.api}", able, effort)
        played = play(bench, script)
        semantics = semantics_of(played.events)
        judgement = judge_history(played.events, shared=True, semantics=semantics)
        wrong = next(iter(judgement.problems), None)
        why = played.trouble or played.hung or played.slow or played.died
        why = why or (wrong.summary if wrong else "")
        if not why:
            return semantics
        said = f"it does not get the same calls right from one caller alone: {why}"[:600]
        if wrong is not None and judgement.broken() == {ORDER}:
            # Whatever is wrong there, the rest can be told.
            self.unordered = True
            self.record.unknown[ORDER] = said
            return semantics
        self.record.unknown |= dict.fromkeys(HISTORIES, said)
        return None

    def _crowd(
        self,
        bench: Bench,
        crowd: Crowd,
        number: int,
        able: Able,
        effort: Effort,
        semantics: Semantics,
    ) -> None:
        contract_of_loss = THREADS if crowd is Crowd.SHARED else PROCESSES
        broken = judged = slow = 0
        why = ""
        for turn in range(number):
            script = script_of(crowd, turn, f"{self.plan.seed}:{self.plan.api}", able, effort)
            played = play(bench, script)
            self.record.scenes[crowd.value] += 1
            self._tell()
            problems = ended(played)
            if not problems and (played.trouble or played.slow):
                why = played.trouble or played.slow
                slow += bool(played.slow)
                self.record.note(f"{crowd.value}: {why}"[:300])
            else:
                judged += 1
                judgement = judge_history(
                    played.events, shared=crowd is Crowd.SHARED, semantics=semantics
                )
                self._count(judgement, contract_of_loss)
                problems = problems or self._others(judgement.problems)
            self.record.saw(problems, {"scene": "history", **script.to_json()})
            broken += bool(problems)
            # What hangs or dies costs its watchdog, once.
            if played.hung or played.died or slow >= 2 or broken >= ENOUGH:
                break
        if number and not judged and not self.record.checked[contract_of_loss]:
            self.record.unknown.setdefault(contract_of_loss, f"no history was played: {why}"[:600])

    def _lock(self, bench: Bench, able: Able, effort: Effort, semantics: Semantics) -> None:
        played = locked(bench, effort.hold_s, able)
        if played is None or played.trouble or played.slow:
            return
        self.record.scenes[Crowd.LOCKED.value] += 1
        judgement = judge_history(played.events, shared=False, semantics=semantics)
        self._count(judgement, PROCESSES)
        problems = ended(played) or self._others(judgement.problems)
        self.record.saw(problems, {"scene": "lock held", "hold_s": effort.hold_s})

    def _count(self, judgement: Judgement, name: str) -> None:
        record = self.record
        record.operations += judgement.acknowledged + judgement.raised
        record.checked[name] += judgement.acknowledged
        record.checked[TORN] += judgement.reads
        record.checked[ORDER] += 0 if self.unordered else judgement.keys
        if judgement.cut_off:
            record.unknown[ORDER] = "cut off: the orders of a history are too many to be searched"
        if name == PROCESSES:
            record.raised.update(error[:120] for error in judgement.errors)

    def _others(self, problems: list[Problem]) -> list[Problem]:
        """Without those that say nothing of callers, or no more than what is known of listings."""
        if self.unordered:
            problems = [problem for problem in problems if problem.contract != ORDER]
        known = self.record.found.get(ITERATION)
        if known is None or "raised" not in known.problem.observed:
            return problems
        error = known.problem.observed.rpartition("raised ")[2].partition(":")[0]
        return [problem for problem in problems if not _is_of_a_listing(problem, error)]

    def _tell(self) -> None:
        now = time.perf_counter()
        if now - self._last_word >= _EVERY_S:
            self._last_word = now
            self.progress({"operations": self.record.operations})


def _is_of_a_listing(problem: Problem, error: str) -> bool:
    """Whether it is that a listing raised this, whatever was called meanwhile."""
    if problem.contract not in (THREADS, TORN) or not problem.events:
        return False
    last = problem.events[-1]
    return last.operation.kind is Kind.LIST and (last.error or "").startswith(error)


def ended(played: Played) -> list[Problem]:
    """The problem of a history that never ended, or whose process did."""
    crowd = played.script.crowd
    name = THREADS if crowd is Crowd.SHARED else PROCESSES
    if played.died:
        how = played.died.partition("\n")[0]
        return [Problem(name, how, "no call to end the process", how, stacks=played.died)]
    if played.hung:
        how, _, stacks = played.hung.partition("\n")
        expected = "every call to be answered"
        last = played.events[-8:]
        return [Problem(name, f"{crowd.value}: {how}", expected, how, last, stacks=stacks)]
    return []


__all__ = ["ended", "judge"]
