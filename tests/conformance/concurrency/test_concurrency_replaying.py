"""A recorded scene that cannot be played again says nothing of the saver: it is not mended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.judging_support import EVERY_OPERATION, facts_from

from saverproof.families.answer import ReplayAnswer, Status
from saverproof.families.concurrency import replaying
from saverproof.families.concurrency.callers.bench import CallerBench
from saverproof.families.concurrency.callers.records import (
    Operation,
    OperationKind,
    Phase,
    ShownTuple,
    TimedCall,
)
from saverproof.families.concurrency.callers.schedules import Schedule
from saverproof.families.concurrency.callers.workload import PUTS
from saverproof.families.concurrency.contract_ids import FIRST, ORDER, PROCESSES, THREADS, TORN
from saverproof.families.concurrency.histories import alone
from saverproof.families.concurrency.histories.history_playing import CallPlan, Played, Sharing
from saverproof.families.concurrency.histories.linearizability import SearchResult as Cut
from saverproof.families.concurrency.histories.sequential_spec import Key
from saverproof.families.concurrency.record import SceneRecord
from saverproof.families.items import ItemPlan
from saverproof_savers import targets

SCRIPT = CallPlan(Sharing.SHARED, PUTS, Schedule(""), (), ((),))
PUT = TimedCall(0, Operation(OperationKind.PUT, 0, 1, tag=1), 0, 1)
SEEN = TimedCall(
    0,
    Operation(OperationKind.GET, 0, 1),
    4,
    5,
    shown=(ShownTuple(1, ("p1",) * 3),),
    phase=Phase.AFTER,
)
GONE = replace(SEEN, shown=())
WELL = Played(SCRIPT, (PUT, SEEN))
FACTS = facts_from(EVERY_OPERATION) | {"capabilities": [], "operations": {"sync": []}}
PLAN = ItemPlan({}, FACTS, "concurrency", "sync", "quick", 0, "")


@pytest.fixture(autouse=True)
def no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def bench(*given: Any) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(plan=PLAN)

    monkeypatch.setattr(CallerBench, "of", bench)


def replayed(
    contract: str,
    plays: list[Played],
    monkeypatch: pytest.MonkeyPatch,
    scene: str = "history",
    by_one: Played = WELL,
) -> ReplayAnswer:
    """What a replay answers where the scene goes so: the last of ``plays`` over and over, and
    ``by_one`` caller alone.
    """
    left = iter([WELL, *plays])
    monkeypatch.setattr(alone, "play", lambda *given: by_one)
    monkeypatch.setattr(replaying, "play", lambda *given: next(left, plays[-1]))
    monkeypatch.setattr(replaying, "locked", lambda *given: plays[-1])
    data = {"scene": scene, "hold_s": 0.1, **SCRIPT.to_json()}
    return replaying.replay(PLAN, targets.sqlite, contract, data)


@pytest.mark.parametrize("scene", ["history", "lock held"])
@pytest.mark.parametrize(
    ("played", "said"),
    [
        (replace(WELL, trouble="opening it raised"), "opening it raised"),
        (replace(WELL, slow="not over after 18 s"), "not over after 18 s"),
    ],
)
def test_a_scene_that_could_not_be_played_is_not_mended(
    played: Played, said: str, scene: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = replayed(PROCESSES, [played], monkeypatch, scene)
    assert answer.status is Status.UNCLEAR
    assert said in answer.said


def test_one_play_of_many_that_was_cut_off_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    plays = [WELL, replace(WELL, slow="not over after 18 s"), WELL]
    assert replayed(THREADS, plays, monkeypatch).status is Status.UNCLEAR


def test_what_another_play_shows_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    plays = [replace(WELL, trouble="no"), replace(WELL, events=(PUT, GONE))]
    assert replayed(THREADS, plays, monkeypatch).status is Status.FAILING


def test_what_one_caller_alone_is_shown_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = replace(WELL, events=(PUT, GONE))
    assert replayed(THREADS, [lost], monkeypatch, by_one=lost).status is Status.NOT_SEEN


def test_a_scene_that_hangs_now_says_nothing_of_what_it_showed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hung = replace(WELL, hung="no answer for 4 s\nstacks")
    assert replayed(THREADS, [hung], monkeypatch).status is Status.FAILING
    assert replayed(TORN, [hung], monkeypatch).status is Status.UNCLEAR


def test_an_order_that_was_not_searched_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = replace(WELL, events=(PUT, GONE))
    assert replayed(ORDER, [lost], monkeypatch).status is Status.UNCLEAR
    monkeypatch.setattr(Key, "searched", lambda *given: Cut.CUT_OFF)
    answer = replayed(ORDER, [WELL], monkeypatch)
    assert answer.status is Status.UNCLEAR
    assert "cut off" in answer.said


@pytest.mark.parametrize("contract", [THREADS, TORN, ORDER])
def test_a_race_that_is_not_seen_again_is_not_called_mended(
    contract: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = replayed(contract, [WELL], monkeypatch)
    assert answer.status is Status.NOT_SEEN
    assert "not seen again in 10 tries" in answer.said


def test_a_race_of_which_nothing_is_known_is_not_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    def race(bench: Any, number: int, record: SceneRecord, file: Any = None) -> None:
        record.tally.unknown[FIRST] = "cut off: not over after 18 s"

    monkeypatch.setattr(replaying, "race", race)
    answer = replaying.replay(PLAN, targets.sqlite, PROCESSES, {"scene": "race"})
    assert answer == ReplayAnswer(Status.UNCLEAR, "cut off: not over after 18 s")
