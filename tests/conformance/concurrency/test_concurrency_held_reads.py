"""Reads of files, and copies, are held while another process changes what they read.

By night, reads are held through the other API as well.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.conformance.concurrency.concurrency_support import BUNDLED, blamed, facts_of, judged, the
from tests.nights import by_night

from saverproof.families.answer import Status
from saverproof.families.concurrency.contract_ids import COPY, TORN
from saverproof.families.concurrency.effort import SceneEffort
from saverproof.families.concurrency.held.held_reads import tell_apart
from saverproof.families.concurrency.held.holding import Holding, HoldPoints
from saverproof.families.concurrency.replaying import replay
from saverproof.families.items import ItemPlan
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef

ALONE = SceneEffort(shared=1, instances=0, processes=0, races=0)
HELD = SceneEffort(shared=1, instances=0, processes=0, races=0, reads=12)
COPIES_HELD = SceneEffort(shared=1, instances=0, processes=0, races=0, upkeep=1, reads=12)


@pytest.mark.parametrize("api", ["sync", by_night("async")])
def test_one_moment_is_whole_wherever_a_read_is_held(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(BUNDLED, tmp_path, api, monkeypatch, HELD, only=TORN)
    assert (blamed(outcome), dict(outcome.unknown)) == (set(), {})
    few = judged(BUNDLED, tmp_path, api, monkeypatch, ALONE, only=TORN)
    assert outcome.checked[TORN] > few.checked[TORN] + 9 * HELD.reads


@pytest.mark.parametrize("attribute", ["read_under_its_own_lock", "file_read_twice"])
def test_what_only_a_held_read_shows_is_replayed(
    attribute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"tests.conformance.concurrency.concurrent_savers:SAVERS.{attribute}"
    few = judged(where, tmp_path, "sync", monkeypatch, ALONE, only=TORN)
    assert not blamed(few)
    outcome = judged(where, tmp_path, "sync", monkeypatch, HELD, only=TORN)
    found = the(outcome, "no-torn-reads")
    assert "held at line" in found.summary
    ref = TargetRef(
        where, "tests.conformance.concurrency.concurrent_savers", None, f"SAVERS.{attribute}"
    )
    target = load(ref)
    plan = ItemPlan(
        ref.to_json(), facts_of(target), "concurrency", "sync", "quick", 0, str(tmp_path)
    )
    assert replay(plan, target, TORN, found.program).status is Status.FAILING


@pytest.mark.parametrize("api", [by_night("sync"), "async"])
def test_one_moment_is_copied_wherever_a_copy_is_held(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = judged(BUNDLED, tmp_path, api, monkeypatch, COPIES_HELD, only=COPY)
    assert (blamed(outcome), dict(outcome.unknown)) == (set(), {})


def test_what_only_a_held_copy_shows_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.concurrent_savers:SAVERS.copy_of_two_reads"
    outcome = judged(where, tmp_path, "sync", monkeypatch, COPIES_HELD, only=COPY)
    assert blamed(outcome) == {COPY}
    found = the(outcome, "copy-of-one-moment")
    assert "held at line" in found.summary
    assert "delete_thread" in " ".join(found.steps)
    assert "settrace" in found.reproducer
    ref = TargetRef(
        where, "tests.conformance.concurrency.concurrent_savers", None, "SAVERS.copy_of_two_reads"
    )
    target = load(ref)
    plan = ItemPlan(
        ref.to_json(), facts_of(target), "concurrency", "sync", "quick", 0, str(tmp_path)
    )
    assert replay(plan, target, COPY, found.program).status is Status.FAILING


@pytest.mark.parametrize("width", [1, 3, 40])
@pytest.mark.parametrize("first", [1, 50, 147, 198])
def test_a_mix_is_found_at_however_few_of_the_places_it_is_seen(first: int, width: int) -> None:
    def shown(number: int) -> str:
        if number < first:
            return "after"
        return "mix" if number < first + width else "before"

    tried = [number for number, _ in tell_apart(200, 4, shown)]
    assert "mix" in map(shown, tried)
    assert len(tried) == len({*tried}) < 30


def test_where_all_come_out_alike_only_a_few_are_tried() -> None:
    assert [number for number, _ in tell_apart(200, 4, lambda _: "after")] == [0, 66, 132, 199]
    assert [number for number, _ in tell_apart(2, 4, lambda _: "after")] == [0, 1]
    assert [*tell_apart(0, 4, str)] == []


def test_what_a_call_awaits_may_raise_and_be_caught_by_it() -> None:
    async def tolerant() -> str:
        failing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(failing.set_exception, ValueError("known"))
        try:
            await failing
        except ValueError:
            await asyncio.sleep(0)
            return "caught"
        return "not raised"

    async def played() -> str:
        places = HoldPoints()
        places.begin(Holding(None))
        answer: str = await places.awaited(tolerant())
        return answer

    assert asyncio.run(played()) == "caught"


def test_what_is_cancelled_while_it_is_held_is_told_to_the_call() -> None:
    told: list[str] = []

    async def patient() -> None:
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    async def played() -> None:
        places = HoldPoints()
        places.begin(Holding(None))

        async def held() -> None:
            await places.awaited(patient())

        task = asyncio.create_task(held())
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(played())
    assert told == ["cancelled"]
