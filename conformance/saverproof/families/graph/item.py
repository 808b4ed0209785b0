"""Judges the graph family: the same graphs on the saver under test and on InMemorySaver."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from saverproof.capability import Capability
from saverproof.contracts.registry import contracts
from saverproof.families.functional.judge import applicable
from saverproof.families.graph.describing import describe
from saverproof.families.graph.findings import finding, program_json
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.random_programs import drawn
from saverproof.families.graph.scenarios import SCENARIOS, Scenario
from saverproof.families.graph.shrinking import shrunk
from saverproof.families.graph.stage import Play, Stage
from saverproof.families.graph.steps import from_json, needs_history
from saverproof.items import Finding, Outcome, Plan
from saverproof.targets.opening import EventLoop
from saverproof.targets.target import Target

Progress = Callable[[dict[str, Any]], None]
_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class Effort:
    """``all_modes``: each scenario in every durability mode, not in one each; ``programs`` are the
    random ones; ``rounds`` is how often all of it is done.
    """

    all_modes: bool
    programs: int
    rounds: int


EFFORTS = {
    "quick": Effort(all_modes=False, programs=0, rounds=1),
    "default": Effort(all_modes=True, programs=8, rounds=1),
    "deep": Effort(all_modes=True, programs=500, rounds=3),
}


def judge(plan: Plan, target: Target, progress: Progress) -> Outcome:
    """Judge the plan's saver by real graphs, run through the plan's API."""
    from langsmith.run_helpers import tracing_context

    started = time.perf_counter()
    with EventLoop() as loop, tracing_context(enabled=False):
        item = Item(plan, Stage(target, plan, loop, _journal(plan)), progress)
        item.judge()
    return Outcome(
        checked=item.checked,
        findings=tuple(item.findings.values()),
        unknown={name: why for name, why in item.unknown.items() if name not in item.findings},
        inapplicable=item.inapplicable(),
        operations=item.stage.calls,
        saver_s=item.stage.seconds,
        total_s=time.perf_counter() - started,
    )


@dataclass(slots=True)
class Item:
    """The judging of one plan."""

    plan: Plan
    stage: Stage
    progress: Progress
    checked: dict[str, int] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    _last_word: float = 0.0

    def judge(self) -> None:
        """Play everything that the saver and the installed LangGraph can."""
        wanted = {c.id for c in contracts("graph") if applicable(self.plan, c) is None}
        with self.stage.store() as store:
            for play in plays(self.plan):
                contract = play.scenario.contract
                if contract not in wanted or contract in self.findings:
                    continue
                objection = play.scenario.objection(self.plan.facts["capabilities"])
                if objection is None:
                    self._judge(play, store.saver)
                else:
                    self.left_out.setdefault(contract, objection)

    def inapplicable(self) -> dict[str, str]:
        """Contract -> why nothing of it could be judged."""
        reasons = {c.id: applicable(self.plan, c) for c in contracts("graph")}
        return {
            **{name: why for name, why in self.left_out.items() if name not in self.checked},
            **{name: why for name, why in reasons.items() if why is not None},
        }

    def _judge(self, play: Play, saver: Any) -> None:
        own = play.scenario.contract
        expected = self.stage.expected(play)
        comparison = self.stage.compared(play, expected, saver)
        self._tell()
        for contract, difference in comparison.differences.items():
            if contract in self.findings:
                continue
            if self.stage.unsteady(play, expected, difference.position + 1):
                name = play.scenario.name
                self.unknown[contract] = f"InMemorySaver itself is not steady in {name!r}"
                return
            self._count(contract, 0 if contract == own else 1)
            found = shrunk(self.stage, play, difference)
            self.findings[contract] = finding(self.plan, self.stage, *found)
        if comparison.steps:
            self._count(own, comparison.steps)

    def _count(self, contract: str, times: int) -> None:
        self.checked[contract] = self.checked.get(contract, 0) + times

    def _tell(self) -> None:
        now = time.perf_counter()
        if now - self._last_word >= _EVERY_S:
            self._last_word = now
            self.progress({"operations": self.stage.calls})


def plays(plan: Plan) -> Iterator[Play]:
    """Everything that is to be played, in order."""
    effort = EFFORTS[plan.profile]
    there = durability_modes()
    for _ in range(effort.rounds):
        for number, known in enumerate(SCENARIOS):
            modes = [mode for mode in known.modes if mode in there]
            if effort.all_modes:
                yield from (Play(known, mode) for mode in modes)
            else:
                yield Play(known, _one_mode(known, modes, number))
    deep = Capability.HISTORY in plan.facts["capabilities"]
    for number in range(effort.programs):
        choose = Random(f"{plan.seed}:graph:{plan.api}:{number}")
        yield Play(drawn(choose, f"program {number}", deep=deep), choose.choice(list(there)))


def _one_mode(known: Scenario, modes: list[str], number: int) -> str:
    # "exit" saves too little for a program that goes back to be played to its end.
    useful = [mode for mode in modes if mode != "exit"] if needs_history(known.program) else modes
    return useful[number % len(useful)]


def _journal(plan: Plan) -> Callable[[Play, int], None]:
    if plan.journal is None:
        return lambda play, position: None
    path = Path(plan.journal)

    def write(play: Play, position: int) -> None:
        taken = play.of(play.scenario.program[: position + 1])
        with path.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(program_json(taken, play.scenario.contract)) + "\n")

    return write


def blame(plan: Plan, steps: list[Any]) -> dict[str, Any]:
    """What to say of a saver that died or hung, from the journal: contract, steps and program.

    Each line of the journal holds a whole program; the last step of the last one was not survived.
    """
    last = steps[-1]
    return {
        "contract": last["contract"],
        "phase": "graph",
        "steps": [describe(step) for step in from_json(last["steps"])],
        "program": last,
        "reproducer": "",
    }
