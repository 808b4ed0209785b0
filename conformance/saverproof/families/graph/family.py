"""Judges the graph family: runs the same graphs on the saver under test and on InMemorySaver."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from langsmith.run_helpers import tracing_context

from saverproof.capability import Capability
from saverproof.contracts.family_table import FamilyTable
from saverproof.contracts.tables.graph import TABLE
from saverproof.families.answer import Blame, ReplayAnswer
from saverproof.families.graph.bench import GraphBench, Play
from saverproof.families.graph.describing import describe
from saverproof.families.graph.findings import finding, program_json
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.random_programs import drawn
from saverproof.families.graph.replay import replay
from saverproof.families.graph.scenarios import SCENARIOS, GraphScenario
from saverproof.families.graph.shrinking import shrunk
from saverproof.families.graph.steps import from_json, needs_history
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.targets.event_loop import loop_for
from saverproof.savers.targets.target import Target

PLAYS = "plays of graphs"


@dataclass(frozen=True, slots=True)
class GraphEffort:
    """The amount of work for one item.

    With ``all_modes`` each scenario is played in every durability mode, else in one. ``programs``
    is the number of random programs, ``rounds`` how often everything is done.
    """

    all_modes: bool
    programs: int
    rounds: int


EFFORTS = {
    "quick": GraphEffort(all_modes=False, programs=0, rounds=1),
    "default": GraphEffort(all_modes=True, programs=8, rounds=1),
    "deep": GraphEffort(all_modes=True, programs=500, rounds=3),
}
"""Profile -> the amount of work: quick for every push, default for merges, deep for nights
(docs/time.md has what they take).
"""


@dataclass(frozen=True, slots=True)
class GraphFamily:
    """The family of contracts on graphs: they do the same on a saver as on InMemorySaver."""

    table: FamilyTable = TABLE

    def judge(self, plan: ItemPlan, target: Target, tally: Tally) -> None:
        """Run real graphs through the plan's API, and compare."""
        with loop_for(plan.api) as loop, tracing_context(enabled=False):
            GraphJudging(plan, GraphBench(target, plan, loop, _journal(plan)), tally).run()

    def replay(self, plan: ItemPlan, target: Target, contract: str, data: Any) -> ReplayAnswer:
        """Return whether a recorded graph still differs from its run on InMemorySaver."""
        return replay(plan, target, contract, data)

    def blame_of_death(self, plan: ItemPlan, target: Target, journal: Sequence[Any]) -> Blame:
        """Blame the contract in the journal's last line: each line is a whole program.

        The program in the last line ends with the step in which the process died.
        """
        last = journal[-1]
        steps = tuple(describe(step) for step in from_json(last["steps"]))
        return Blame(contract=last["contract"], steps=steps, program=last)


@dataclass(slots=True)
class GraphJudging:
    """The judging of one plan."""

    plan: ItemPlan
    bench: GraphBench
    tally: Tally
    _found: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Play everything that the saver and the installed LangGraph support."""
        wanted = self.tally.wanted
        with self.bench.store() as store:
            budget = self.tally.budget
            all_plays = budget.ordered(plays(self.plan), lambda play: play.scenario.contract)
            to_come = Counter(play.scenario.contract for play in all_plays)
            for play in budget.within(all_plays, PLAYS, least=3):
                contract = play.scenario.contract
                to_come[contract] -= 1
                if contract not in wanted or contract in self._found:
                    continue
                objection = play.scenario.objection(self.plan.facts["capabilities"])
                if objection is None:
                    self._judge(play, store.saver)
                    self.tally.keep_settled([name for name, left in to_come.items() if not left])
                else:
                    self.tally.rule_out(contract, objection)
            done, _ = budget.left_out.get(PLAYS, (len(all_plays), 0))
            self._leave_out(all_plays[done:], all_plays[:done])
        self.tally.operations, self.tally.saver_s = self.bench.calls, self.bench.seconds

    def _leave_out(self, unplayed: Sequence[Play], played: Sequence[Play]) -> None:
        """Tell the tally which contracts have lost plays that no other play replaces.

        Drawn plays are samples, and are not counted.
        """
        missing = [play for play in unplayed if play.scenario in SCENARIOS and play not in played]
        short = {play.scenario.contract for play in missing}
        if short:
            self.tally.not_exercised(short, self.tally.budget.reason)

    def _judge(self, play: Play, saver: Any) -> None:
        own = play.scenario.contract
        expected = self.bench.expected(play)
        comparison = self.bench.compared(play, expected, saver)
        self._beat()
        for contract in comparison.differences:
            self.tally.differences.note(contract)
        for contract, difference in comparison.differences.items():
            if contract in self._found:
                continue
            if self.bench.unsteady(play, expected, difference.position + 1):
                name = play.scenario.name
                self.tally.unsure(
                    comparison.differences, f"InMemorySaver itself varies in {name!r}"
                )
                return
            self.tally.agreed(contract, 0 if contract == own else 1)
            found = shrunk(self.bench, play, difference)
            self._found.add(contract)
            self.tally.findings.append(finding(self.plan, self.bench, *found))
        self.tally.agreed(own, comparison.steps)
        if not comparison.steps:
            why = "each graph that shows it comes out otherwise before"
            self.tally.give_up(own, why, *comparison.differences)

    def _beat(self) -> None:
        self.tally.operations = self.bench.calls
        self.tally.beat()


def plays(plan: ItemPlan) -> Iterator[Play]:
    """Yield the plays of an item in order."""
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


def _one_mode(known: GraphScenario, modes: list[str], number: int) -> str:
    # "exit" saves too little for a program that goes back to be played to its end.
    useful = [mode for mode in modes if mode != "exit"] if needs_history(known.program) else modes
    return useful[number % len(useful)]


def _journal(plan: ItemPlan) -> Callable[[Play, int], None]:
    if plan.journal is None:
        return lambda play, position: None
    path = Path(plan.journal)

    def write(play: Play, position: int) -> None:
        taken = play.of(play.scenario.program[: position + 1])
        with path.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(program_json(taken, play.scenario.contract)) + "\n")

    return write
