"""What became of operations, judged from what is shown after a kill."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from

from saverproof.families.durability.graphs.graph_verdict import SHARES, Resumed, Show, resumable
from saverproof.families.durability.kills.judging import (
    KilledRun,
    KillOutcome,
    KillVerdict,
    LeftBehind,
    judge,
    judge_put_again,
)
from saverproof.families.durability.kills.kill_places import KillPlace, PlaceKind
from saverproof.families.durability.kills.record import (
    ATOMIC,
    NO_GAPS,
    REOPENS,
    SURVIVES,
    KillRecord,
    KillTrial,
)
from saverproof.families.durability.kills.trials import trouble_of
from saverproof.families.graph.scenario import ALL_MODES
from saverproof.families.graph.scenarios import SCENARIOS
from saverproof.families.items import ItemPlan
from saverproof.families.tally import Tally
from saverproof.programs.steps.codec import decode, encode
from saverproof.programs.steps.definitions import DeleteForRuns, DeleteThread, Put, PutWrites
from saverproof.programs.steps.identifiers import mint, task_id
from saverproof.programs.values import Value
from saverproof.savers.execution.view import ShownFacts, canonical, fact
from saverproof_faults.kill import DiedBy, View

ONE = fact("a", "", "1", "checkpoint")
TASK = fact("a", "", "1", "writes", "t")
TWO, TWO_PARENT = fact("a", "", "2", "checkpoint"), fact("a", "", "2", "parent")
EARLY = fact("a", "", "2", "writes", "t")

STATES: tuple[ShownFacts, ...] = (
    {},
    {ONE: "x"},
    {ONE: "x", TASK: "[1, 2]"},
    {ONE: "x", TASK: "[1, 2]"},
    {ONE: "x", TASK: "[1, 2]", TWO: "y", TWO_PARENT: "1", EARLY: "[3]"},
)
"""A checkpoint, writes to it, writes to one that is not put yet, and that one's put."""
WRITES = (("count", Value("integer", 1)),)
RUN = KilledRun(
    (
        Put("a", "", 1),
        PutWrites("a", "", 1, 1, WRITES),
        PutWrites("a", "", 2, 1, WRITES),
        Put("a", "", 2, 1),
    ),
    STATES,
)


IN_B = fact("b", "", "1", "checkpoint")
OF_RUNS = KilledRun(
    (Put("a", "", 1), Put("b", "", 1), DeleteForRuns(("run-1",))),
    ({}, {ONE: "x", TASK: "[1]"}, {ONE: "x", TASK: "[1]", IN_B: "z"}, {}),
)


@pytest.mark.parametrize(
    ("shown", "outcome"),
    [
        ({ONE: "x", TASK: "[1]"}, KillOutcome.WHOLE),
        ({IN_B: "z"}, KillOutcome.WHOLE),
        ({TASK: "[1]", IN_B: "z"}, KillOutcome.TORN),
        ({ONE: "x"}, KillOutcome.TORN),
    ],
)
def test_a_removal_of_many_threads_is_judged_thread_by_thread(
    shown: ShownFacts, outcome: KillOutcome
) -> None:
    assert judge(OF_RUNS, 2, True, shown).outcome is outcome


LATEST_OF_A = fact("a", "", "", "latest")
FILLED = {ONE: "x", TASK: "[1]", TWO: "y", LATEST_OF_A: "2"}
DELETING = KilledRun(
    (Put("a", "", 1), PutWrites("a", "", 1, 1, WRITES), Put("a", "", 2, 1), DeleteThread("a")),
    ({}, {ONE: "x", LATEST_OF_A: "1"}, {ONE: "x", TASK: "[1]", LATEST_OF_A: "1"}, FILLED, {}),
)


@pytest.mark.parametrize(
    "shown",
    [
        {ONE: "x", TASK: "[1]", LATEST_OF_A: "1"},
        {ONE: "x", LATEST_OF_A: "1"},
        {TASK: "[1]"},
    ],
)
def test_what_a_deletion_in_flight_takes_newest_first_is_its_own(shown: ShownFacts) -> None:
    verdict = judge(DELETING, 3, True, shown)
    assert verdict.outcome is KillOutcome.TORN
    assert set(verdict.torn) <= FILLED.keys()


def test_what_comes_back_with_a_removed_checkpoint_was_left_by_the_kill() -> None:
    back = LeftBehind(frozenset({TASK}))
    verdict = judge_put_again(OF_RUNS, 2, back)
    assert (verdict.outcome, verdict.torn) == (KillOutcome.TORN, (TASK,))
    assert judge_put_again(OF_RUNS, 2, LeftBehind()).kept
    # Unless it comes back where nothing was killed as well.
    assert judge_put_again(replace(OF_RUNS, left={2: back}), 2, back).kept


def test_a_put_that_is_refused_after_a_killed_removal_is_a_store_that_takes_no_writes() -> None:
    refused = LeftBehind(error="IntegrityError")
    assert judge_put_again(OF_RUNS, 2, refused).outcome is KillOutcome.UNOPENED
    assert judge_put_again(replace(OF_RUNS, left={2: refused}), 2, refused).kept


def test_what_a_deletion_in_flight_does_not_take_is_lost() -> None:
    other = fact("b", "", "1", "checkpoint")
    states = tuple(
        state | ({other: "z"} if number else {}) for number, state in enumerate(DELETING.states)
    )
    run = KilledRun(DELETING.program, states)
    assert judge(run, 3, True, {}).outcome is KillOutcome.LOST


@pytest.mark.parametrize(
    ("acknowledged", "in_flight", "shown", "outcome"),
    [
        (1, True, STATES[1], KillOutcome.ABSENT),
        (1, True, STATES[2], KillOutcome.WHOLE),
        (2, False, STATES[2], KillOutcome.ABSENT),
        (1, True, {ONE: "x", TASK: "[1]"}, KillOutcome.TORN),
        (3, True, STATES[3] | {TWO: "y", EARLY: "[3]"}, KillOutcome.TORN),
        (2, False, STATES[1], KillOutcome.LOST),
        (1, True, {}, KillOutcome.LOST),
        (4, False, {ONE: "x"}, KillOutcome.LOST),
        (3, True, STATES[3], KillOutcome.ABSENT),
        (2, True, {TASK: "[1, 2]"}, KillOutcome.GAP),
        # The writes were acknowledged, and the put in flight shows that they are gone.
        (3, True, STATES[3] | {TWO: "y", TWO_PARENT: "1"}, KillOutcome.GAP),
    ],
)
def test_each_state_has_one_outcome(
    acknowledged: int, in_flight: bool, shown: ShownFacts, outcome: KillOutcome
) -> None:
    assert judge(RUN, acknowledged, in_flight, shown).outcome is outcome


def test_lost_operations_and_later_ones_are_named() -> None:
    verdict = judge(RUN, 4, False, {TWO: "y", TWO_PARENT: "1", EARLY: "[3]"})
    assert verdict.lost == (0, 1)
    assert verdict.later == (3,)


def test_a_thread_that_comes_back_is_a_lost_deletion() -> None:
    run = KilledRun((Put("a", "", 1), DeleteThread("a")), ({}, {ONE: "x"}, {}))
    verdict = judge(run, 2, False, {ONE: "x"})
    assert (verdict.outcome, verdict.lost) == (KillOutcome.LOST, (1,))


def test_a_deletion_that_leaves_a_store_as_it_once_was_is_in_doubt() -> None:
    """The thread whose deletion is in flight is there as before its last put."""
    run = KilledRun(
        (Put("a", "", 1), Put("a", "", 2, 1), DeleteThread("a")),
        ({}, {ONE: "x"}, {ONE: "x", TWO: "y"}, {}),
    )
    verdict = judge(run, 2, True, {ONE: "x"})
    assert (verdict.outcome, verdict.doubtful) == (KillOutcome.TORN, True)


STORED, NEWEST = (fact("a", "", at, kind) for at, kind in ((mint(1), "checkpoint"), ("", "latest")))
BATCH = fact("a", "", mint(1), "writes", task_id(1))
REPLACED = KilledRun(
    (Put("a", "", 1), PutWrites("a", "", 1, 1, WRITES), Put("a", "", 1)),
    (
        {},
        {STORED: "x", NEWEST: "1"},
        {STORED: "x", NEWEST: "1", BATCH: "[1]"},
        {STORED: "y", NEWEST: "1", BATCH: "[1]"},
    ),
)


def test_what_a_put_in_flight_deletes_first_is_torn_and_not_lost() -> None:
    verdict = judge(REPLACED, 2, True, {})
    assert (verdict.outcome, verdict.doubtful) == (KillOutcome.TORN, True)
    same = (*REPLACED.states[:3], REPLACED.states[2])
    again = KilledRun((*REPLACED.program[:2], REPLACED.program[1]), same)
    verdict = judge(again, 2, True, REPLACED.states[1])
    assert (verdict.outcome, verdict.doubtful) == (KillOutcome.TORN, True)


def test_what_another_checkpoint_lacks_is_lost_whatever_is_replaced() -> None:
    other = fact("a", "", mint(2), "checkpoint")
    states = tuple({**state, other: "z"} if state else state for state in REPLACED.states)
    verdict = judge(KilledRun(REPLACED.program, states), 2, True, {NEWEST: "1"})
    assert verdict.outcome in (KillOutcome.LOST, KillOutcome.GAP)


def trial(run: KilledRun, acknowledged: int, shown: ShownFacts) -> KillTrial:
    """A kill in the operation after the acknowledged ones."""
    place = KillPlace(PlaceKind.SYSTEM_CALL, acknowledged, 1)
    verdict = judge(run, acknowledged, True, shown)
    return KillTrial(run, (), place, acknowledged, True, verdict)


@pytest.mark.parametrize("loses", [False, True])
def test_a_deletion_in_doubt_counts_as_torn_unless_work_is_lost_elsewhere(
    loses: bool, tmp_path: Path
) -> None:
    facts = {"durable": True, "packages": {"langgraph-checkpoint": "4.3.2"}, "capabilities": []}
    plan = ItemPlan({}, facts, "durability", "sync", "quick", 1, str(tmp_path))
    record = KillRecord(Tally(plan))
    record.tried(trial(DELETING, 3, {ONE: "x", LATEST_OF_A: "1"}))
    if loses:
        record.tried(trial(RUN, 1, {}))
    record.settle()
    assert record.found.keys() == {SURVIVES if loses else ATOMIC}


def test_long_values_are_told_apart_to_their_end() -> None:
    long = "x" * 100_000
    assert canonical(long) != canonical(long[:-1] + "y")
    assert canonical(long) != canonical(long.encode())
    assert len(canonical(long)) < 1_000


def test_what_equal_values_say_is_equal() -> None:
    assert canonical({"a": 1, "b": (1, 2)}) == canonical({"b": [1, 2], "a": 1})
    assert canonical(1) != canonical(True)
    assert canonical(1) != canonical("1")


@pytest.mark.parametrize("kind", list(PlaceKind))
def test_a_place_can_be_told_as_json_and_in_words(kind: PlaceKind) -> None:
    place = KillPlace(kind, 3, 2, event="engine statement", number=2, moment="after", about="BEGIN")
    assert decode(KillPlace, encode(place)) == place
    assert place.describe()


def test_a_run_is_not_killed_where_langgraph_leaves_a_stub() -> None:
    promised = {
        (scenario.name, mode): resumable(scenario, mode)
        for scenario in SCENARIOS
        if scenario.name in SHARES
        for mode in ALL_MODES
    }
    assert [where for where, so in promised.items() if not so] == [("a delta channel", "exit")]


def unusable(acknowledged: int, *, seen: bool = False) -> KillTrial:
    verdict = KillVerdict(KillOutcome.UNOPENED)
    place = KillPlace(PlaceKind.SYSTEM_CALL, acknowledged, 2)
    return KillTrial(RUN, (), place, acknowledged, True, verdict, "reading raises", seen=seen)


def record_of(*trials: KillTrial) -> KillRecord:
    facts = facts_from(EVERY_OPERATION)
    record = KillRecord(Tally(ItemPlan({}, facts, "durability", "sync", "quick", 0, "")))
    for trial in trials:
        record.tried(trial)
    record.settle()
    return record


def test_a_store_that_cannot_be_used_shows_nothing_of_what_it_holds() -> None:
    kept = KillTrial(
        RUN, (), KillPlace(PlaceKind.ACKNOWLEDGED, 1), 2, False, KillVerdict(KillOutcome.ABSENT)
    )
    outcome = record_of(kept, unusable(2), unusable(3)).tally.outcome()
    for name in (SURVIVES, ATOMIC, NO_GAPS):
        assert outcome.unexercised[name].startswith("2 kills")
        assert "durability/reopens stands in the way" in outcome.unexercised[name]
    assert outcome.checked == {REOPENS: 3, SURVIVES: 1, NO_GAPS: 1}


def test_what_was_read_of_a_store_before_it_could_not_be_used_counts() -> None:
    outcome = record_of(unusable(2, seen=True)).tally.outcome()
    assert outcome.checked == dict.fromkeys((REOPENS, SURVIVES, ATOMIC, NO_GAPS), 1)
    assert outcome.unexercised == {}


def test_nothing_stands_in_the_way_of_what_is_found_broken() -> None:
    lost = KillTrial(
        RUN, (), KillPlace(PlaceKind.ACKNOWLEDGED, 1), 2, False, KillVerdict(KillOutcome.LOST, (1,))
    )
    assert SURVIVES in record_of(lost, unusable(2)).found


@pytest.mark.parametrize(
    ("seen", "finished"),
    [
        (None, False),
        ({"result": '{"raised": "ValueError"}'}, False),
        ({"result": "{}"}, True),
        ({"state": "{}"}, True),
    ],
)
def test_a_graph_that_did_not_run_to_its_end_says_nothing_of_nodes_that_run_twice(
    seen: dict[str, str] | None, finished: bool
) -> None:
    value = None if seen is None else {"seen": seen}
    view = View(value, DiedBy.FINISHED, None, 0, None, 0.0, "", "")
    show = Show(SCENARIOS[0], "sync", {"result": "{}"}, Counter(), 1)
    assert Resumed(show, 1, (), (), frozenset(), Counter(), view).finished is finished


def test_the_stacks_of_a_look_that_hung_stand_below_what_became_of_it() -> None:
    view = View(None, DiedBy.DEADLINE, None, None, None, 6.0, "Current thread: put", "")
    said, stacks = trouble_of(view).splitlines()
    assert said == "looking at the store: the process gave no answer by its deadline"
    assert stacks == "Current thread: put"


def test_what_a_deletion_left_in_part_may_be_lost_work() -> None:
    place = KillPlace(PlaceKind.ACKNOWLEDGED, 1)
    lost = KillTrial(RUN, (), place, 2, False, KillVerdict(KillOutcome.LOST, (1,)))
    in_part = KillTrial(
        RUN, (), place, 2, True, KillVerdict(KillOutcome.TORN, torn=(ONE,), doubtful=True)
    )
    assert record_of(in_part).found.keys() == {ATOMIC}
    record = record_of(lost, in_part)
    assert record.found.keys() == {SURVIVES}
    assert record.tally.differences.seen == {SURVIVES: 2}
    assert f"{SURVIVES} stands in the way" in record.tally.outcome().unexercised[ATOMIC]
