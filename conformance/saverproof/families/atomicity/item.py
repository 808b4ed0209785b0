"""Judges the atomicity of one saver through one API: every write operation, failed everywhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from saverproof.contracts.registry import contract, contracts
from saverproof.errors import OpeningError
from saverproof.execution.storage_errors import room_in
from saverproof.families.atomicity.bench import Bench
from saverproof.families.atomicity.drivers import declared, nothing_passed
from saverproof.families.atomicity.effort import EFFORTS, SLOW_TO_OPEN_MS, Effort
from saverproof.families.atomicity.fault_plans import Attack, thinned
from saverproof.families.atomicity.journal import Journal, blamed
from saverproof.families.atomicity.judging import LOST_CONNECTION
from saverproof.families.atomicity.observation import Ending, Sight
from saverproof.families.atomicity.prepared_store import NoCleanRunError
from saverproof.families.atomicity.random_programs import Drawn
from saverproof.families.atomicity.random_shrinking import places_of, retraced
from saverproof.families.atomicity.random_trial import Stumble, Walk
from saverproof.families.atomicity.record import Found, Record
from saverproof.families.atomicity.reporting import Told, finding, finding_of_walk
from saverproof.families.atomicity.scenarios import RARE, SCENARIOS, Scenario, suited
from saverproof.families.atomicity.shortening import shortened
from saverproof.families.atomicity.sweep import Sweep, swept
from saverproof.families.atomicity.worker import HungError
from saverproof.items import Outcome, Plan
from saverproof.targets.target import Target

FAMILY = "atomicity"
MOST_HANGS = 2
"""A saver that hangs this often is not asked any further: each time costs the worker's patience."""
_EVERY_S = 0.2

Progress = Callable[[dict[str, Any]], None]


def judge(plan: Plan, target: Target, progress: Progress) -> Outcome:
    """Judge the plan's saver. Whatever it does is an answer; nothing of it is raised.

    Raises:
        SaverproofError: there is no room for workspaces.
    """
    from saverproof.families.functional.judge import applicable

    started = time.perf_counter()
    reasons = {one.id: applicable(plan, one) for one in contracts(FAMILY)}
    item = Item(plan, target, progress)
    with room_in(plan.folder):
        why = item.run()
    if why is not None:
        reasons = {name: reason or why for name, reason in reasons.items()}
        item.record = Record()
    elif item.record.local and not item.record.checked[LOST_CONNECTION]:
        reasons[LOST_CONNECTION] = reasons[LOST_CONNECTION] or _LOCAL
    record = item.record
    wanted = {name for name, reason in reasons.items() if reason is None}
    # What follows from a flaw that the sweeps have found is not another one.
    known = {name for found in record.found for name in (found, *contract(found).implies)}
    walked = [
        finding_of_walk(plan, target, told)
        for name, told in item.stumbles.items()
        if name in wanted - known
    ]
    return Outcome(
        checked={name: times for name, times in record.checked.items() if name in wanted},
        findings=(
            *(
                finding(plan, target, shown, record.untold(shown[0].contract))
                for shown in item.shown
                if shown[0].contract in wanted
            ),
            *walked,
        ),
        unknown={n: why for n, why in record.unknown.items() if n in wanted - record.found.keys()},
        inapplicable={name: reason for name, reason in reasons.items() if reason is not None},
        operations=item.calls,
        saver_s=item.seconds,
        total_s=time.perf_counter() - started,
        extra={"faults": record.as_data()},
    )


_LOCAL = "SQLite works on files: there is no connection that others could cut"


@dataclass(slots=True)
class Item:
    """The judging of one plan."""

    plan: Plan
    target: Target
    progress: Progress
    record: Record = field(default_factory=Record)
    shown: list[list[Found]] = field(default_factory=list)
    """For each flaw that is told of, the trials that show it, the plainest first."""
    stumbles: dict[str, Told] = field(default_factory=dict)
    """Contracts that random programs broke, and a short program that does."""
    calls: int = 0
    seconds: float = 0.0
    _hangs: Counter[bool] = field(default_factory=Counter)
    _last_word: float = 0.0
    _journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        self._journal = Journal(self.plan.journal)

    def run(self) -> str | None:
        """Sweep every scenario; gives the reason if no contract of the family applies."""
        effort = EFFORTS[self.plan.profile]
        drivers, problems = declared(self.target)
        with ExitStack() as stack:
            bench = stack.enter_context(Bench.opened(self.plan, self.target, drivers))
            try:
                sweeps = self._sweeps(bench, stack, effort)
                if not sweeps:
                    self.record.nothing_known("; ".join(self.record.notes))
                elif not any(sweep.counted.places for sweep in sweeps):
                    return nothing_passed(problems)
                for problem in problems:
                    self.record.note(problem)
                self._sweep(bench, sweeps, effort)
                self.record.settle()
                self._walk(bench, effort)
                for name in self.record.found:
                    for found in self.record.told(name):
                        self.shown.append(shortened(bench, found, stack))
            finally:
                self.calls, self.seconds = bench.calls, bench.seconds
        return None

    def _sweeps(self, bench: Bench, stack: ExitStack, effort: Effort) -> list[Sweep]:
        """Every scenario that this saver can take, counted in a clean run."""
        able = {*self.plan.facts["operations"][self.plan.api], *self.plan.facts["capabilities"]}
        able -= self.plan.facts["absent"].keys()
        if self.plan.facts["durable"]:
            able.add("durable")
        sweeps: list[Sweep] = []
        for scenario in suited([*SCENARIOS, *(RARE if effort.rare else ())], frozenset(able)):
            try:
                self._journal.note((*scenario.start, scenario.step), None)
                prepare = partial(swept, bench, scenario, stack, also_lasting=effort.lasting)
                sweep = bench.on_worker(prepare)
            except (NoCleanRunError, OpeningError, HungError) as problem:
                self.record.note(f"not swept, it does not work without faults either: {problem}")
                if isinstance(problem, HungError):
                    bench.renew()
                continue
            self.record.counted(sweep)
            sweeps.append(sweep)
            self._tell(bench)
        return sweeps

    def _sweep(self, bench: Bench, sweeps: list[Sweep], effort: Effort) -> None:
        slow = self.plan.facts["opens_ms"] >= SLOW_TO_OPEN_MS
        everything = [
            (sweep, attack) for sweep in sweeps if sweep.clean is None for attack in sweep.attacks
        ]
        chosen = thinned(everything, effort.slow_most if slow else effort.most)
        if len(chosen) < len(everything):
            self.record.note(f"{len(chosen)} of {len(everything)} faults, evenly chosen")
        for sweep, attack in chosen:
            # One class of faults is not to use up what the other is allowed.
            if self._hangs[attack.kind == "cancellation"] >= MOST_HANGS:
                self.record.not_tried(attack, f"cut off: the saver hung {MOST_HANGS} times")
                continue
            self._try(bench, sweep, attack)
            self._tell(bench)

    def _walk(self, bench: Bench, effort: Effort) -> None:
        """Random programs; one that stumbles over a contract already broken adds nothing."""
        able = frozenset(self.plan.facts["operations"][self.plan.api])
        for number in range(effort.walks):
            choose = Random(f"{self.plan.seed}:{FAMILY}:{self.plan.api}:{number}")
            route = Drawn(choose, able, effort.length, _kinds(bench))
            walk = Walk(bench, route, self._journal.note_walk)
            try:
                stumble = bench.on_worker(walk.run)
            except HungError as hung:
                self.record.note(f"a random program hung: {hung}")
                bench.renew()
                break
            self.record.walked(walk.injected)
            if stumble is not None:
                self._keep(bench, stumble)
            self._tell(bench)

    def _keep(self, bench: Bench, stumble: Stumble) -> None:
        """Keep the first program that broke a contract which the sweeps have not found broken."""
        contract = str(stumble.verdict.contract)
        if contract in self.stumbles or contract in self.record.found:
            return
        shortest = retraced(bench, stumble)
        places = {at: places_of(bench, shortest, at) for at in shortest.faults}
        self.stumbles[contract] = Told(shortest, places)

    def _try(self, bench: Bench, sweep: Sweep, attack: Attack) -> None:
        sight = Sight()
        scenario = sweep.scenario
        self._journal.note((*scenario.start, scenario.step), attack)
        try:
            bench.on_worker(lambda: sweep.strike(attack, sight))
        except HungError as hung:
            self._hangs[attack.kind == "cancellation"] += 1
            sight.hung = str(hung)
            bench.renew()
        except (NoCleanRunError, OpeningError) as problem:
            self.record.not_tried(attack, f"the trial could not begin: {problem}")
            return
        self.record.tried(sweep, attack, sight, sweep.verdict(attack, sight), self.plan.api)

    def _tell(self, bench: Bench) -> None:
        now = time.perf_counter()
        if now - self._last_word >= _EVERY_S:
            self._last_word = now
            faults = self.record.injected.total()
            self.progress({"operations": bench.calls, "faults": faults})


def _kinds(bench: Bench) -> tuple[str, ...]:
    """The sorts of faults that there are for random programs."""
    engine = bench.injector.engine_unavailable is None
    return (
        "client",
        *(["cancel"] if bench.api == "async" else []),
        *(["engine"] if engine else []),
        *(["disk"] if bench.disk is not None else []),
    )


def blame(plan: Plan, steps: list[Any]) -> dict[str, Any]:
    """What to say of a saver that ended its process, or hung it, from the journal."""
    del plan
    return blamed(steps)


__all__ = ["Ending", "Scenario", "blame", "judge"]
