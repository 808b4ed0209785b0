"""Kills graphs while they run, lets another process resume them, and compares with a run without a
kill.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from saverproof.contracts.tables import durability
from saverproof.errors import NoCleanRunError
from saverproof.families.budget import batched
from saverproof.families.durability.graphs import graph_child
from saverproof.families.durability.graphs.graph_child import NODES, OPERATIONS, RESUMED
from saverproof.families.durability.graphs.graph_log import read_log
from saverproof.families.durability.graphs.graph_scripts import graph_reproducer
from saverproof.families.durability.graphs.graph_verdict import (
    SHARES,
    Resumed,
    Show,
    raised,
    resumable,
)
from saverproof.families.durability.kills.bench import DEADLINE_S, SIDE_BY_SIDE, KillBench
from saverproof.families.durability.kills.control import is_behind
from saverproof.families.durability.kills.judging import KillOutcome
from saverproof.families.durability.kills.record import KillRecord
from saverproof.families.graph.describing import describe
from saverproof.families.graph.installed import durability_modes
from saverproof.families.graph.runner import RESULT
from saverproof.families.graph.scenarios import SCENARIOS, GraphScenario
from saverproof.families.graph.steps import from_json, to_json
from saverproof.families.items import Finding, ItemPlan
from saverproof.scripts.flaky import often_shown
from saverproof_faults.kill import DiedBy, KillAt, TrialResult, View

RESUME = durability.RESUME.id
NO_RERUN = durability.NO_RERUN.id
_WIDTH = 1_200
_MOST_TOLD = 4
"""How many trials are tried for a script, until one shows the flaw by itself."""


@dataclass(slots=True)
class Resuming:
    """Kills and resumes the graphs of one item. ``on_kill`` is called after each kill."""

    bench: KillBench
    plan: ItemPlan
    record: KillRecord
    wanted: frozenset[str]
    most: int
    afresh: int
    on_kill: Callable[[], None]
    findings: dict[str, Finding]
    _kills: int = 0
    _shown: dict[str, list[tuple[Finding, Resumed]]] = field(default_factory=dict)

    def run(self) -> None:
        """Play every scenario that the saver and the installed LangGraph support, in turn."""
        shows = list(self._shows())
        if not shows and self.most:
            self.record.tally.unsure((RESUME, NO_RERUN), "; ".join(self.record.tally.notes))
            return
        whole = sum(show.share for show in shows)
        for show in shows:
            choose = Random(f"{self.plan.seed}:{show.scenario.name}:{show.mode}")
            places = range(1, show.places + 1)
            share = max(1, round(self.most * show.share / whole))
            chosen = sorted(choose.sample(places, min(share, len(places))))
            some_each = list(batched(chosen, SIDE_BY_SIDE))
            for some in self.record.tally.budget.within(some_each, "pairs of kills of graphs"):
                if self.bench.hangs_too_often:
                    self.record.cut_off((RESUME, NO_RERUN), self.bench.hangs)
                    return
                for resumed in self._killed(show, some):
                    self._judge(resumed)
                self.on_kill()

    def kill_again(self, scenario: GraphScenario, mode: str, place: int) -> int:
        """Kill the graph at one moment of its run. If that shows nothing, kill it at each other
        moment. Return the number of moments.

        Other moments are needed because a graph's threads never pass them twice in the same order.
        """
        show = self._rehearsed(scenario, mode)
        for moment in dict.fromkeys([place, *range(1, show.places + 1)]):
            if not self.findings:
                for resumed in self._killed(show, [moment]):
                    self._judge(resumed)
        return show.places

    def _shows(self) -> Iterator[Show]:
        known = {scenario.name: scenario for scenario in SCENARIOS}
        modes = list(durability_modes())
        names = list(SHARES)[: -(-self.most // 3)]
        for number, name in enumerate(names):
            objection = known[name].objection(self.plan.facts["capabilities"])
            if objection is not None:
                self.record.tally.note(f"graph {name!r} was not killed: {objection}")
                continue
            others = [m for m in modes if m != "sync" and resumable(known[name], m)]
            chosen = ["sync"] if "sync" in modes else modes[:1]
            # Each mode is judged on what it promises: after a kill, all lead to the same state.
            chosen += [others[number % len(others)]] if others and self.most > len(SHARES) else []
            for mode in chosen:
                try:
                    yield self._rehearsed(known[name], mode)
                except NoCleanRunError as problem:
                    why = f"graph {name!r} was not killed, since it fails without a kill: {problem}"
                    self.record.tally.note(why[:600])

    def _rehearsed(self, scenario: GraphScenario, mode: str) -> Show:
        with self._trial(scenario, mode) as arguments:
            result = self.bench.harness.trial(graph_child.run, arguments, deadline_s=DEADLINE_S)
            if result.died_by is not DiedBy.FINISHED:
                raise NoCleanRunError(f"{result.ending()} {result.stacks}".strip())
            nodes = _nodes(arguments)
            seen = result.value["seen"]
            there = self.bench.harness.look(graph_child.latest, arguments, deadline_s=DEADLINE_S)
            if is_behind(result.value["latest"], there.value):
                why = f"its own process is given {result.value['latest']} as the latest"
                why = f"{why}, and another process {there.value}"
                self.record.tally.not_answered((RESUME, NO_RERUN), f"graphs, not killed: {why}")
                raise NoCleanRunError(why)
            if raised(seen) or not nodes:
                # A run without a result cannot be compared with others.
                raise NoCleanRunError(f"it ended with {seen[RESULT]}")
        return Show(scenario, mode, result.value["seen"], nodes, result.places)

    @contextmanager
    def _trial(self, scenario: GraphScenario, mode: str) -> Iterator[dict[str, Any]]:
        notes = tempfile.mkdtemp(prefix="graph-", dir=self.bench.stores)
        try:
            with self.bench.store() as arguments:
                yield arguments | {
                    "scenario": scenario.name,
                    "mode": mode,
                    "notes": notes,
                    "deep": "history" in self.plan.facts["capabilities"],
                }
        finally:
            shutil.rmtree(notes)

    def _killed(self, show: Show, places: Sequence[int]) -> list[Resumed]:
        """Kill the graph at each of these places, and let other processes resume it."""
        with ExitStack() as stack:
            trials = [
                (place, stack.enter_context(self._trial(show.scenario, show.mode)))
                for place in places
            ]
            results = self.bench.killed_each(
                graph_child.run,
                [(arguments, KillAt.place(place)) for place, arguments in trials],
            )
            died = []
            for (place, arguments), result in zip(trials, results, strict=True):
                if result.died_by is DiedBy.KILL:
                    died.append((place, arguments, result))
                else:
                    self._not_killed(show, result)
            views = self._resumed(
                [
                    {**arguments, "acknowledged": list(result.acknowledged)}
                    for _, arguments, result in died
                ]
            )
            return [
                Resumed(
                    show,
                    place,
                    tuple(read_log(Path(arguments["notes"], OPERATIONS))[0]),
                    tuple(read_log(Path(arguments["notes"], RESUMED))[0]),
                    frozenset(result.acknowledged),
                    _nodes(arguments),
                    view,
                )
                for (place, arguments, result), view in zip(died, views, strict=True)
            ]

    def _resumed(self, each: Sequence[dict[str, Any]]) -> list[View]:
        """Return the results of resuming these graphs. A fresh interpreter resumes the first
        few.
        """
        harness, body = self.bench.harness, graph_child.resume
        fresh = each[: max(0, self.afresh - self._kills)]
        self._kills += len(each)
        views = [harness.look_afresh(body, one, deadline_s=DEADLINE_S) for one in fresh]
        if len(fresh) < len(each):
            views += harness.looks(body, each[len(fresh) :], deadline_s=DEADLINE_S)
        self.bench.hangs += sum(view.died_by is DiedBy.DEADLINE for view in views)
        return views

    def _not_killed(self, show: Show, result: TrialResult) -> None:
        if result.died_by is not DiedBy.FINISHED:
            why = f"graph {show.scenario.name!r}, before it was killed: {result.ending()}"
            self.record.tally.unsure((RESUME, NO_RERUN), f"{why} {result.stacks}".strip()[:2_000])

    def _judge(self, resumed: Resumed) -> None:
        tally = self.record.tally
        difference = resumed.difference()
        sync = resumed.show.mode == "sync"
        rerun = resumed.rerun() if sync else None
        if rerun is None or difference is None:
            tally.agreed(RESUME)
        else:
            tally.give_up(RESUME, "what runs twice may change the state", NO_RERUN)
        if sync and (rerun is not None or resumed.finished):
            tally.agreed(NO_RERUN)
        elif sync:
            tally.give_up(NO_RERUN, "no graph that was resumed ran to its end", RESUME)
        outcome = KillOutcome.WHOLE if difference is None and rerun is None else KillOutcome.LOST
        self.record.killed_graph(f"graph: {resumed.show.scenario.name}", outcome)
        # A node that runs twice changes the state as well. Blame one contract for one flaw.
        if rerun is not None:
            self._find(
                NO_RERUN,
                resumed,
                f"a node was executed again: {rerun.path or rerun.task}",
                "what was acknowledged, on an acknowledged checkpoint, is not executed again",
                f"{rerun.describe()} a second time, after the graph was resumed",
            )
        elif difference is not None:
            kind, expected, observed = difference
            self._find(RESUME, resumed, f"{kind} differs", expected, observed)

    def _find(
        self, contract: str, resumed: Resumed, what: str, expected: str, observed: str
    ) -> None:
        if contract not in self.wanted:
            return
        self.record.tally.differences.note(contract)
        show = resumed.show
        steps = [describe(step) for step in show.scenario.program]
        found = Finding(
            contract=contract,
            api=self.plan.api,
            phase="crash",
            summary=f"{show.scenario.name}, durability {show.mode}: {what}; killed {resumed.where}",
            expected=_cut(expected),
            observed=_cut(observed),
            steps=(*steps, f"SIGKILL {resumed.where}", "another process resumes the thread"),
            program={
                "graph": show.scenario.graph,
                "scenario": show.scenario.name,
                "steps": to_json(show.scenario.program),
                "mode": show.mode,
                "kill": resumed.place,
            },
            reproducer="",
        )
        self.findings.setdefault(contract, found)
        self._shown.setdefault(contract, []).append((found, resumed))

    def scripted(self) -> Iterator[Finding]:
        """Return the findings, each with a script if one of the first trials can be shown by a
        script.
        """
        for contract, shown in self._shown.items():
            for found, resumed in shown[:_MOST_TOLD]:
                script = self._script(contract, resumed)
                if script:
                    yield replace(found, reproducer=script, showed=often_shown(script))
                    break
            else:
                yield self.findings[contract]

    def _script(self, contract: str, resumed: Resumed) -> str:
        seen, show = resumed.view.value, resumed.show
        left = show.scenario.program if seen is None else from_json(seen["left"])
        return graph_reproducer(
            self.bench.target,
            contract,
            show.scenario,
            show.mode,
            self.plan.api,
            resumed.place,
            left,
        )


def _nodes(arguments: dict[str, Any]) -> Counter[str]:
    path = Path(arguments["notes"], NODES)
    return Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else ())


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
