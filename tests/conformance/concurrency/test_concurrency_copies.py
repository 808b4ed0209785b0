"""Graphs that go on while their thread is copied, or pruned with delta channels, or others go.

By night, more wrong copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.concurrency import concurrency_support, upkeep_savers
from tests.nights import by_night

from saverproof.families.answer import Status
from saverproof.families.concurrency import replaying
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import OperationKind
from saverproof.families.concurrency.children import CHILDREN
from saverproof.families.concurrency.family import ConcurrencyFamily
from saverproof.families.concurrency.graphs.copied_graphs import Copied, ShownThread
from saverproof.families.concurrency.graphs.graph_calls import GraphCalls, StoringCall
from saverproof.families.concurrency.graphs.graph_scenes import beside_graphs
from saverproof.families.concurrency.graphs.graph_upkeep import INSIDE, UPKEEP_OF_GRAPHS
from saverproof.families.concurrency.histories.sequential_flaws import SequentialFlaws
from saverproof.families.concurrency.record import Problem, SceneRecord, ShownProblem
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef

HERE = upkeep_savers.__name__


@dataclass(frozen=True)
class Seen:
    """What came of graphs beside one operation."""

    met: bool
    record: SceneRecord
    behind: frozenset[str]

    @property
    def found(self) -> ShownProblem:
        (found,) = self.record.found.values()
        return found


def plan_for(name: str, folder: Path, api: str) -> tuple[ItemPlan, Any]:
    ref = TargetRef(f"{HERE}:SAVERS.{name}", HERE, None, f"SAVERS.{name}")
    made = load(ref)
    facts = concurrency_support.facts_of(made)
    return ItemPlan(ref.to_json(), facts, "concurrency", api, "quick", 0, str(folder)), made


def seen_beside(
    kind: OperationKind, name: str, folder: Path, api: str = "sync", graphs: Sequence[str] = ()
) -> Seen:
    plan, made = plan_for(name, folder, api)
    record, flaws = SceneRecord(Tally(plan)), SequentialFlaws(plan, made)
    with CallerBench.of(plan, made, CHILDREN) as bench:
        met = beside_graphs(bench, record, flaws, UPKEEP_OF_GRAPHS[kind], 6, graphs)
    return Seen(met, record, frozenset(flaws.known))


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", "async"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (OperationKind.COPY, "older_moment"),
        (OperationKind.COPY, "notes_newest"),
        # What its own thread loses is another matter: that of late writers.
        (OperationKind.DELETE, "two_transactions"),
        (OperationKind.DELETE_RUN, "runs_it_found"),
    ],
)
def test_an_operation_in_several_transactions_may_be_right(
    kind: OperationKind, name: str, api: str, tmp_path: Path
) -> None:
    seen = seen_beside(kind, name, tmp_path, api)
    assert seen.met
    assert (seen.record.found, seen.record.tally.notes, seen.record.raised) == ({}, [], {})


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("kind", "name", "behind"),
    [
        (OperationKind.COPY, "without_writes", "deletion/copy-complete"),
        (OperationKind.PRUNE, "without_chains", "deletion/prune-keeps-delta-chain"),
    ],
)
def test_what_is_broken_at_rest_is_another_familys(
    kind: OperationKind, name: str, behind: str, tmp_path: Path
) -> None:
    seen = seen_beside(kind, name, tmp_path)
    assert (seen.record.found, seen.behind) == ({}, {behind})


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("kind", "wrong", "right", "expected", "observed"),
    [
        (OperationKind.PRUNE, "chains", "older_moment", "as without the prune", "[]"),
        (
            OperationKind.COPY,
            "questions_first",
            "older_moment",
            "at one moment",
            "part of one batch",
        ),
        by_night(
            OperationKind.COPY, "table_by_table", "older_moment", "at one moment", "does not show"
        ),
        (
            OperationKind.COPY,
            "newest_last",
            "notes_newest",
            "what the call gave",
            "newest checkpoint",
        ),
        (
            OperationKind.COPY,
            "not_read",
            "notes_newest",
            "can be read",
            "newest checkpoint is missing",
        ),
        by_night(OperationKind.COPY, "questions_away", "older_moment", "as without the copy", "1"),
        (
            OperationKind.DELETE,
            "tables_anew",
            "two_transactions",
            "as without the deletion",
            "nothing",
        ),
        (OperationKind.DELETE_RUN, "new_questions", "runs_it_found", "as without the deletion", ""),
    ],
)
def test_a_finding_is_told_and_played_again(
    kind: OperationKind, wrong: str, right: str, expected: str, observed: str, tmp_path: Path
) -> None:
    found = seen_beside(kind, wrong, tmp_path).found
    upkeep = UPKEEP_OF_GRAPHS[kind]
    assert found.problem.contract == upkeep.contract
    assert expected in found.problem.expected
    assert observed in found.problem.observed
    assert "held at line" in found.problem.steps[1]
    assert found.scene["scene"] == upkeep.scene

    def again(name: str) -> Status:
        plan, made = plan_for(name, tmp_path, "sync")
        return ConcurrencyFamily().replay(plan, made, upkeep.contract, found.scene).status

    assert again(wrong) is Status.FAILING
    assert again(right) is Status.FIXED


@pytest.mark.usefixtures("shared_harness")
def test_a_flaw_that_two_plays_do_not_show_is_not_called_fixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upkeep = UPKEEP_OF_GRAPHS[OperationKind.COPY]
    plan, made = plan_for("table_by_table", tmp_path, "sync")
    scene = {"scene": upkeep.scene, "name": upkeep.names[0]}
    torn = Problem(upkeep.contract, "a copy is of no moment", "one moment", "two moments")
    plays: list[SceneRecord] = []

    def shown_by_the_third(bench: CallerBench, record: SceneRecord, *more: Any) -> bool:
        # A real third play would now and then show nothing either.
        plays.append(record)
        if len(plays) > 2:
            record.saw([torn], scene)
        return True

    monkeypatch.setattr(replaying, "beside_graphs", shown_by_the_third)
    answer = ConcurrencyFamily().replay(plan, made, upkeep.contract, scene)
    assert answer.status is Status.FAILING


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("saver", "error"),
    [("refuses_once", "ConnectionError('gone')"), ("refuses_reads", "TimeoutError")],
)
def test_a_copy_beside_which_a_graph_was_refused_a_call_says_nothing(
    saver: str, error: str, tmp_path: Path
) -> None:
    seen = seen_beside(OperationKind.COPY, saver, tmp_path)
    assert seen.record.found == {}
    (note,) = seen.record.tally.notes
    assert "were refused a call" in note
    assert error in note


@pytest.mark.usefixtures("shared_harness")
def test_a_copy_of_the_middle_of_a_step_is_resumed(tmp_path: Path) -> None:
    def seen(name: str) -> Seen:
        # Of two questions one by one each copy between steps is as it is at rest.
        return seen_beside(OperationKind.COPY, name, tmp_path, graphs=[INSIDE])

    found = seen("answers_last").found
    assert found.problem.contract == UPKEEP_OF_GRAPHS[OperationKind.COPY].contract
    assert "as with a thread that shows the same" in found.problem.expected
    assert "with the copy of the last step: go on" in found.problem.steps[-1]
    right = seen("notes_answers")
    assert right.met
    assert (right.record.found, right.record.tally.notes, right.record.raised) == ({}, [], {})
    at_rest = seen("no_answers")
    assert (at_rest.record.found, at_rest.behind) == ({}, {"deletion/copy-complete"})


# -- copies, by hand ----------------------------------------------------------------------


class Thread:
    """A thread whose calls are made by hand, one after the other."""

    def __init__(self) -> None:
        self.calls = GraphCalls()
        self.stored: list[StoringCall] = []

    def put(self, number: int) -> StoringCall:
        return self._made({"checkpoint": {"id": f"{number}"}})

    def write(self, number: int, *writes: tuple[str, Any], task: str = "t") -> StoringCall:
        return self._made({"writes": writes, "task_id": task}, number)

    def _made(self, arguments: dict[str, Any], number: int | None = None) -> StoringCall:
        place = {"thread_id": "a", "checkpoint_ns": "", "checkpoint_id": f"{number}"}
        call = self.calls._begun({"config": {"configurable": place}, **arguments})
        call.ended = next(self.calls.clock)
        self.stored.append(call)
        return call

    def copied(self, *shown: StoringCall, began: int = 1000, step_began: int = 0) -> Copied:
        """A copy that shows these calls."""
        original, copy = (self._shown(each) for each in (self.stored, shown))
        return Copied(began, step_began, self.stored, original, copy)

    def _shown(self, calls: Sequence[StoringCall]) -> ShownThread:
        """The last write of each task to a channel replaces the others."""
        checkpoint = {"channel_values": {}, "channel_versions": {}}
        writes = {one[:3]: one for call in calls for one in call.writes}
        return ShownThread(
            {
                call.at: SimpleNamespace(checkpoint=checkpoint, parent_config=None)
                for call in calls
                if call.task is None
            },
            frozenset(writes.values()),
        )


def test_a_copy_may_be_of_any_moment_while_it_was_made() -> None:
    thread = Thread()
    made = [
        thread.put(1),
        thread.write(1, ("x", 1), ("y", 2)),
        thread.put(2),
        thread.write(2, ("x", 3)),
    ]
    for end in range(len(made) + 1):
        assert thread.copied(*made[:end], began=0).flaw() is None
        # What had returned when it began has to be there.
        whole = end == len(made)
        assert (thread.copied(*made[:end]).flaw() is None) is whole
    # The writes of what is not there are not to be seen.
    assert thread.copied(made[0], made[1], made[3], began=0).flaw() is None


def test_a_copy_of_no_moment_shows_what_came_later() -> None:
    thread = Thread()
    first, early, second = thread.put(1), thread.write(1, ("x", 1), ("y", 2)), thread.put(2)
    flaw = thread.copied(first, second, began=0).flaw()
    assert flaw == (
        "the copy shows (put of checkpoint 2) and does not show (put_writes of x, y on checkpoint "
        "1), which had returned when that one began"
    )
    half = replace(early, writes=early.writes[:1])
    assert "a part of one batch" in (thread.copied(first, half, began=0).flaw() or "")
    early.ended = None
    # It had not returned: perhaps it came after the second one.
    assert thread.copied(first, second, began=0).flaw() is None


def test_calls_side_by_side_have_no_order() -> None:
    thread = Thread()
    first, beside, second = thread.put(1), thread.write(1, ("x", 1)), thread.put(2)
    beside.ended, second.began = second.began, beside.began
    assert thread.copied(first, second, began=0).flaw() is None


def test_of_an_answer_that_was_replaced_nothing_can_be_told() -> None:
    thread = Thread()
    first, one = thread.put(1), thread.write(1, ("__resume__", ["one"]))
    both = thread.write(1, ("__resume__", ["one", "two"]))
    last = thread.put(2)
    assert thread.copied(first, both, last, began=0).flaw() is None
    assert thread.copied(first, one, began=0).flaw() is None
    assert thread.copied(first, one, last, began=0).flaw() is not None


def test_a_graph_goes_on_with_a_copy_of_before_or_after_a_step() -> None:
    thread = Thread()
    first, asked = thread.put(1), thread.write(1, ("__interrupt__", "?"))
    began = next(thread.calls.clock)
    answered, second = thread.write(1, ("__resume__", "!"), task="0"), thread.put(2)

    def first_left(*shown: StoringCall) -> int | None:
        return thread.copied(*shown, began=began, step_began=began).first_left

    assert first_left(first, asked) == 0
    assert first_left(first, asked, answered) is None
    assert first_left(first, asked, answered, second) == 1
    assert first_left(first) is None
