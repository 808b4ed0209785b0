"""Graphs that wait and go on while their thread is pruned: where a prune is held, what is told.

By day through one API; through the other one by night.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.concurrency import concurrency_support
from tests.nights import by_night
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import WRONG, opener
from tests.wrong_savers.in_threads import InThreads

from saverproof import target
from saverproof.families.answer import Status
from saverproof.families.concurrency import reporting
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.callers.schedules import UPKEEP
from saverproof.families.concurrency.contract_ids import PRUNE
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.family import ConcurrencyFamily
from saverproof.families.concurrency.graphs.graph_differences import (
    GONE_ON,
    PlayDifference,
    difference_at_rest,
    first_difference,
)
from saverproof.families.concurrency.graphs.graph_upkeep import UPKEEP_OF_GRAPHS
from saverproof.families.concurrency.held import holding
from saverproof.families.concurrency.held.holding import (
    AWAIT,
    Holding,
    HoldPoint,
    HoldPoints,
    Probing,
    chosen,
)
from saverproof.families.graph.runner import RESULT, STATE, Observation
from saverproof.families.items import ItemPlan, Outcome
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef

HERE = "tests.conformance.concurrency.test_concurrency_graphs"
GRAPHS = SceneEffort(shared=0, instances=0, processes=0, races=0, upkeep=1, places=6)
A, B, C, D = (HoldPoint("saver.py", line) for line in range(1, 5))


class PrunesWhatItFound(InThreads, SqliteReference):
    """Finds in one transaction what is old, and deletes that in another, by its ids."""

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        if strategy != "keep_latest":
            super().prune(thread_ids, strategy=strategy)
            return
        with self.database.reading():
            old = [row for thread in thread_ids for row in self._old(thread)]
        with self.database.writing():
            for row in old:
                self._delete_row(row)

    def _old(self, thread: str) -> list[Any]:
        found = []
        for ns in {row.ns for row in self._rows("thread = ?", thread)}:
            rows = {row.id: row for row in self._rows("thread = ? AND ns = ?", thread, ns)}
            newest = rows[max(rows)]
            kept = {newest.id, *self._delta_chain(rows, newest)}
            found += [row for row in rows.values() if row.id not in kept]
        return found


class ForgetsAnswersOfLaterThreads(InThreads, SqliteReference):
    """Drops what people answer once there are several threads, whether or not one is pruned."""

    def put_writes(
        self, config: Any, writes: Sequence[Any], task_id: str, task_path: str = ""
    ) -> None:
        number = self._thread_of(config).rpartition("graph-")[2].partition("-")[0]
        if number.isdigit() and int(number) >= 4:
            writes = [(channel, value) for channel, value in writes if channel != "__resume__"]
        super().put_writes(config, writes, task_id, task_path)


class TellsWhileItPrunes(PrunesWhatItFound):
    pruning = False

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        type(self).pruning = True
        try:
            super().prune(thread_ids, strategy=strategy)
        finally:
            type(self).pruning = False


class RefusesWhileItPrunes(TellsWhileItPrunes):
    """Lets a batch of writes in beside a prune, and refuses a checkpoint of the root."""

    def put(self, config: Any, *given: Any) -> Any:
        root = not config["configurable"].get("checkpoint_ns")
        if type(self).pruning and root and "graph-" in self._thread_of(config):
            raise RuntimeError("busy")
        return super().put(config, *given)


class RefusesInsideWhileItPrunes(TellsWhileItPrunes):
    """Refuses a checkpoint of a subgraph beside a prune: LangGraph tells nobody that it did."""

    def put(self, config: Any, *given: Any) -> Any:
        if type(self).pruning and config["configurable"].get("checkpoint_ns"):
            return self._refused(config, given[0])
        return super().put(config, *given)

    def _refused(self, config: Any, checkpoint: Any) -> Any:
        raise RuntimeError("busy")


class LosesInsideWhileItPrunes(RefusesInsideWhileItPrunes):
    """Says of what it could not store that it did."""

    def _refused(self, config: Any, checkpoint: Any) -> Any:
        return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}


def saver_of(name: str) -> Any:
    return next(wrong for wrong in WRONG if wrong.name == name)


forgets_later = target(name="forgets-later")(opener(ForgetsAnswersOfLaterThreads))
refuses = target(name="refuses-while-it-prunes")(opener(RefusesWhileItPrunes))
refuses_inside = target(name="refuses-inside")(opener(RefusesInsideWhileItPrunes))
loses_inside = target(name="loses-inside")(opener(LosesInsideWhileItPrunes))
found_first = target(name="prunes-what-it-found")(opener(PrunesWhatItFound))
one_per_thread = target(name="one-per-thread")(saver_of("prune-keeps-one-per-thread").make)
comes_back = target(name="comes-back")(saver_of("dropped-comes-back").make)
by_what_was_newest = target(name="by-what-was-newest")(
    saver_of("prune-of-questions-by-what-was-newest").make
)


def judged(name: str, folder: Path, api: str, monkeypatch: Any) -> Outcome:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    return concurrency_support.judged(
        f"{HERE}:{name}", folder, api, monkeypatch, GRAPHS, only=PRUNE
    )


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_a_prune_in_two_transactions_may_be_right(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged("found_first", tmp_path, api, monkeypatch)
    assert (outcome.findings, outcome.unknown, outcome.unsettled) == ((), {}, {})
    # A history has two such rounds: the rest are graphs that went on meanwhile.
    assert outcome.checked[PRUNE] > 2


@pytest.mark.usefixtures("shared_harness")
def test_a_graph_that_comes_out_otherwise_by_itself_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged("forgets_later", tmp_path, "sync", monkeypatch)
    assert outcome.findings == ()
    assert "comes out otherwise by itself" in outcome.unknown[PRUNE]


@pytest.mark.usefixtures("shared_harness")
def test_a_graph_that_is_refused_beside_the_prune_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged("refuses", tmp_path, "sync", monkeypatch)
    assert outcome.findings == ()
    # The rounds of its history alone.
    assert outcome.checked.get(PRUNE, 0) <= 2


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_what_a_subgraph_was_refused_is_not_lost(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged("refuses_inside", tmp_path, api, monkeypatch)
    assert (outcome.findings, outcome.unknown, outcome.unsettled) == ((), {}, {})
    (told,) = [note for note in outcome.extra["concurrency"]["notes"] if "refused" in note]
    assert "put raised RuntimeError('busy')" in told


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_what_a_subgraph_is_told_to_be_stored_is_lost(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = judged("loses_inside", tmp_path, api, monkeypatch).findings
    assert found.contract == PRUNE
    assert "a graph beside a prune comes out otherwise" in found.summary


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("name", "behind"),
    [
        ("one_per_thread", "deletion/prune-latest"),
        # Without its parent a checkpoint has no value that could come back.
        by_night("comes_back", "channels/dropped-stays-dropped"),
    ],
)
def test_what_a_prune_at_rest_breaks_is_another_familys(
    name: str, behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(name, tmp_path, "sync", monkeypatch)
    assert (outcome.findings, outcome.unsettled) == ((), {})
    assert {one.contract for one in outcome.handed} == {behind}


@pytest.mark.usefixtures("shared_harness")
def test_a_finding_says_where_the_prune_stood_and_is_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged("by_what_was_newest", tmp_path, "sync", monkeypatch)
    (found,) = outcome.findings
    assert found.contract == PRUNE
    assert found.program["scene"] == UPKEEP_OF_GRAPHS[OperationKind.PRUNE].scene
    graph, beside, step = found.steps
    assert graph.startswith("graph 'asking_on'")
    assert "held at line" in beside
    assert step.startswith("invoke the graph")
    assert "interrupts" in found.expected

    def again(name: str) -> Status:
        ref = TargetRef(f"{HERE}:{name}", HERE, None, name)
        made = load(ref)
        facts = concurrency_support.facts_of(made)
        plan = ItemPlan(ref.to_json(), facts, "concurrency", "sync", "quick", 0, str(tmp_path))
        return ConcurrencyFamily().replay(plan, made, PRUNE, found.program).status

    assert again("by_what_was_newest") is Status.FAILING
    assert again("found_first") is Status.FIXED


# -- places -------------------------------------------------------------------------------


def test_of_each_stretch_in_which_others_get_through_the_last_place_is_chosen() -> None:
    assert chosen([(A, True), (B, True), (C, False), (D, True)], 6) == [B, D]
    assert chosen([(A, True), (B, False), (C, True), (D, True)], 1) == [A]
    assert chosen([(A, False), (B, False)], 6) == []
    # Nothing is ever in the way: each of them may matter.
    assert chosen([(A, True), (B, True), (C, True), (D, True)], 2) == [A, C]


def test_a_write_gets_through_where_it_is_answered_and_nowhere_else() -> None:
    lock = threading.Lock()

    def write() -> None:
        with lock:
            pass

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        probing = Probing(lambda: pool.submit(write))
        probing.at(A)
        with lock:
            probing.at(B)
            probing.at(C)
        probing.at(D)
        probing.end()
    assert probing.free == [(A, True), (B, False), (C, False), (D, True)]


def test_a_call_stands_still_at_its_place_once() -> None:
    places, holding_at = HoldPoints(), Holding(HoldPoint(AWAIT, 2))
    turns: list[int] = []

    async def call() -> str:
        for turn in range(4):
            turns.append(turn)
            await asyncio.sleep(0)
        return "an answer"

    async def beside() -> int:
        while not holding_at.come.is_set():
            await asyncio.sleep(0)
        there = len(turns)
        holding_at.let_go.set()
        return there

    async def both() -> tuple[str, int]:
        places.begin(holding_at)
        answer, there = await asyncio.gather(_wrapped(places.awaited(call())), beside())
        return answer, there

    assert asyncio.run(both()) == ("an answer", 2)
    assert (turns, holding_at.overtaken) == ([0, 1, 2, 3], True)


@pytest.mark.parametrize("at_work", [True, False])
def test_a_call_is_held_for_as_long_as_the_others_are_at_work(
    at_work: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, glances = Holding(A), itertools.count(1)

    def go_on(process: int | None) -> bool:
        number = next(glances)
        if number == 100:
            held.let_go.set()
        # Between two calls they wait for a moment.
        return at_work and number % 10 == 0

    monkeypatch.setattr(holding, "others_go_on", go_on)
    monkeypatch.setattr(holding, "_LONGEST_S", 0.0)
    monkeypatch.setattr(holding, "_LATEST_S", 3600.0)
    held.at(A)
    assert held.overtaken is at_work


async def _wrapped(call: Any) -> Any:
    return await call


def test_lines_are_places_of_the_call_alone_and_twice_at_most() -> None:
    seen: list[HoldPoint] = []

    class Noting(Holding):
        def at(self, place: HoldPoint) -> None:
            seen.append(place)

    places = HoldPoints()
    places.begin(Noting(None))

    class Frame:
        f_code = (lambda: None).__code__
        f_lineno = 7

    frame: Any = Frame()
    places._at_line(frame)
    assert seen == []
    UPKEEP.set(True)
    try:
        for _ in range(3):
            places._at_line(frame)
    finally:
        UPKEEP.set(False)
    assert [(place.line, place.time) for place in seen] == [(7, 1), (7, 2)]


# -- what differs -------------------------------------------------------------------------


def test_a_step_that_raised_says_nothing_and_what_is_lost_afterwards_does() -> None:
    def seen(result: Any, state: Any) -> list[Observation]:
        return [Observation(0, RESULT, result), Observation(0, STATE, state)]

    alone = seen({"log": ["in"]}, {"next": ["ask"]})
    assert first_difference(alone, alone) is None
    assert first_difference(alone, seen({"raised": "locked"}, {"next": []})) is None
    lost = first_difference(alone, seen({"log": ["in"]}, {"next": []}))
    assert lost == PlayDifference(0, STATE, "['next']", "['ask']", "[]")
    unread = first_difference(alone, seen({"log": ["in"]}, {"raised": "gone"}))
    assert unread is not None
    assert unread.kind == STATE


def test_where_nobody_is_beside_it_a_step_that_raises_says_something() -> None:
    alone = [Observation(0, RESULT, {"log": ["in"]})]
    assert difference_at_rest(alone, alone) is None
    wrong = difference_at_rest(alone, [Observation(0, RESULT, {"raised": "gone"})])
    expected, observed = "{'log': ['in']}", "{'raised': 'gone'}"
    assert wrong == PlayDifference(0, RESULT, "", expected, observed, GONE_ON, raised=True)
