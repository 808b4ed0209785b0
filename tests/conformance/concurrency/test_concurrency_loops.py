"""The event loop has to go on while an awaited operation waits for the database."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.concurrency.concurrency_support import SCENES_ALONE, judged, the
from tests.conformance.judging_support import EVERY_OPERATION, facts_from
from tests.reference.sqlite import SqliteReference
from tests.wrong_savers import opener
from tests.wrong_savers.in_threads import InThreads

from saverproof import target
from saverproof.families.answer import Status
from saverproof.families.concurrency import reporting
from saverproof.families.concurrency.contract_ids import LOOP
from saverproof.families.concurrency.replaying import replay
from saverproof.families.concurrency.scenes.loop_judging import SCENE
from saverproof.families.concurrency.scenes.waiting import LOOKED_AT
from saverproof.families.items import ItemPlan
from saverproof.savers.targets.loading import load
from saverproof.savers.targets.reference import TargetRef


class LockedOnTheLoop(InThreads, SqliteReference):
    """Lets one call at a time through, by a lock that is awaited."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.turn: Any = asyncio.Lock()

    async def aput(self, *given: Any, **options: Any) -> Any:
        async with self.turn:
            return await super().aput(*given, **options)

    async def aget_tuple(self, *given: Any, **options: Any) -> Any:
        async with self.turn:
            return await super().aget_tuple(*given, **options)


class LockedForever(LockedOnTheLoop):
    """Keeps a lock of threads for as long as it awaits: the second task stops the first."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.turn = LockOfThreads()


class LockOfThreads:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    async def __aenter__(self) -> None:
        self.lock.acquire()

    async def __aexit__(self, *exc_info: object) -> None:
        self.lock.release()


class FindsNothing(InThreads, SqliteReference):
    """Asks its database for no checkpoint, so that nothing can be made to wait."""

    async def aget_tuple(self, config: Any) -> Any:
        return None


class InThreadsAlone(InThreads, SqliteReference):
    """Runs its sync methods in threads."""


in_threads_alone = target(name="in-threads-alone")(opener(InThreadsAlone))
locked_on_the_loop = target(name="locked-on-the-loop")(opener(LockedOnTheLoop))
finds_nothing = target(name="finds-nothing")(opener(FindsNothing))
locked_forever = target(name="locked-forever")(opener(LockedForever))


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("name", ["in_threads_alone", "locked_on_the_loop"])
def test_a_saver_that_waits_beside_the_loop_lets_it_go_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = f"tests.conformance.concurrency.test_concurrency_loops:{name}"
    outcome = judged(where, tmp_path, "async", monkeypatch, SCENES_ALONE, LOOP)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert outcome.checked[LOOP] == len(LOOKED_AT)


@pytest.mark.usefixtures("shared_harness")
def test_a_loop_that_can_never_go_on_is_told_from_a_slow_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporting, "reproducer", lambda *arguments: "")
    where = "tests.conformance.concurrency.test_concurrency_loops:locked_forever"
    outcome = judged(where, tmp_path, "async", monkeypatch, SCENES_ALONE, LOOP)
    found = the(outcome, "loop-goes-on")
    assert "stands still" in found.summary
    assert "self.lock.acquire()" in found.observed


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize("api", ["sync", "async"])
def test_a_loop_is_not_judged_where_nothing_waits(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency:elsewhere"
    outcome = judged(where, tmp_path, api, monkeypatch, SCENES_ALONE, LOOP)
    assert (outcome.findings, outcome.checked.get(LOOP)) == ((), None)
    told = outcome.inapplicable if api == "sync" else outcome.unexercised
    assert ("sync API" if api == "sync" else "no call passed a known") in told[LOOP]


@pytest.mark.usefixtures("shared_harness")
def test_what_was_not_made_to_wait_is_named_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.conformance.concurrency.test_concurrency_loops:finds_nothing"
    outcome = judged(where, tmp_path, "async", monkeypatch, SCENES_ALONE, LOOP)
    assert (outcome.findings, outcome.checked.get(LOOP)) == ((), None)
    assert "was seen in get" in outcome.unexercised[LOOP]


@pytest.mark.usefixtures("shared_harness")
@pytest.mark.parametrize(
    ("where", "status"),
    [
        ("concurrent_savers:SAVERS.writes_on_the_loop", Status.FAILING),
        ("test_concurrency_loops:in_threads_alone", Status.FIXED),
        ("test_concurrency:elsewhere", Status.UNCLEAR),
    ],
)
def test_it_is_replayed(where: str, status: Status, tmp_path: Path) -> None:
    module, _, attribute = f"tests.conformance.concurrency.{where}".partition(":")
    ref = TargetRef(where, module, None, attribute)
    facts = facts_from(EVERY_OPERATION)
    plan = ItemPlan(ref.to_json(), facts, "concurrency", "async", "quick", 0, str(tmp_path))
    assert replay(plan, load(ref), LOOP, {"scene": SCENE, "calls": []}).status is status
