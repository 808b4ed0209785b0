"""Savers on a real Redis whose connections break: right ones held right, each wrong one blamed.

By day a wrong saver of each kind of fault, and scripts of what the server refuses; the right one is
failed at each message by night, as is another saver on Redis by day at a part of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from saverproof.families.answer import Status
from saverproof.families.atomicity import family, fault_programs, scenarios
from saverproof.families.atomicity.effort import EFFORTS, FaultEffort
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.sweeps import sweep
from saverproof.families.items import Outcome
from saverproof.programs.steps.codec import to_json
from saverproof.programs.steps.definitions import Put
from saverproof_faults import Event, Fault, Place, Plan
from saverproof_faults.places import OUTAGES
from saverproof_faults.servers import Redis, RedisServer, Valkey, serving
from saverproof_faults.syscalls import available
from tests.conformance.atomicity.test_atomicity import FAMILY, found, judged, plan_for
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.conformance.selftest_support import EVERY_FAMILY, hunt
from tests.nights import by_night
from tests.servers.redis_saver import RedisReference, target_of
from tests.servers.wrong_redis_savers import (
    AppendsAgain,
    ByArrival,
    DeadConnectionsInPool,
    DeletesBeforeItSets,
    LateAnswers,
    LeakingPool,
    LostAnswerIsSuccess,
    NeverConnectsAgain,
    OneAfterTheOther,
    ScansWithGlob,
    ScriptLoadedOnce,
    StalePointer,
    WaitsForEver,
)

TWO = ["put", "put_writes"]
BROKEN = "usable-after-lost-connection"

_WHY_NOT = RedisServer.missing() or available()
pytestmark = pytest.mark.skipif(_WHY_NOT is not None, reason=str(_WHY_NOT))


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with serving(Redis()):
        yield


def network_faults(outcome: Outcome) -> set[str]:
    return {
        entry["detail"]
        for entry in outcome.extra["faults"]["map"]
        if entry["kind"] == "network" and "detail" in entry
    }


@pytest.fixture
def one_put(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong in every call is seen in the first, and as well in a store of any size."""
    monkeypatch.setattr(family, "SCENARIOS", scenarios.SCENARIOS[1:2])
    monkeypatch.setattr(family, "shortened", lambda _, found, *__: [found])


# By night, Valkey too: its messages and refusals are the same, and come through the same driver.
@pytest.mark.nightly
@pytest.mark.parametrize("server", [Redis(), Valkey()] if EVERY_FAMILY else [Redis()])
def test_a_right_saver_is_failed_at_each_message(
    server: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [scenarios.SCENARIOS[number] for number in (1, 2, 3, 8, 12)]
    monkeypatch.setattr(family, "SCENARIOS", chosen)
    with serving(server):
        target = target_of(RedisReference, server)
        outcome = judged(target, tmp_path, operations=[*TWO, "delete_thread"])
    assert found(outcome) == set()
    assert outcome.unknown == {}
    assert {f"atomicity/{name}" for name in (*FAMILY, BROKEN)} <= outcome.checked.keys()
    assert network_faults(outcome) >= {"send WATCH", "send HGETALL", "send MULTI, HSET, EXEC"}
    kinds = outcome.extra["faults"]["by_kind"]
    lost = {"connection-reset", "answer-lost", "answer-cut", *OUTAGES} - {Fault.FAILED_OVER}
    assert lost | {Fault.SERVER_REFUSED, Fault.SERVER_FULL} <= kinds.keys()
    details = {entry.get("detail") for entry in outcome.extra["faults"]["map"]}
    assert details >= {"HSET on shelves", "HDEL on shelves"}
    assert not any("system call" in str(entry) for entry in outcome.extra["faults"]["map"])


@pytest.mark.usefixtures("one_put")
@pytest.mark.parametrize(
    ("kind", "contract"),
    [
        (DeletesBeforeItSets, "previous-intact"),
        # By day this one; savers on files break the contracts of the others by day.
        by_night(NeverConnectsAgain, BROKEN),
        by_night(LostAnswerIsSuccess, "no-silent-loss"),
        by_night(StalePointer, "all-or-nothing"),
        by_night(DeadConnectionsInPool, BROKEN),
        by_night(ScriptLoadedOnce, BROKEN),
        by_night(OneAfterTheOther, "previous-intact"),
        by_night(AppendsAgain, "no-silent-loss"),
    ],
)
def test_a_wrong_client_is_blamed(
    kind: type[RedisReference], contract: str, tmp_path: Path
) -> None:
    outcome = judged(target_of(kind), tmp_path, operations=["put"])
    assert found(outcome) == {contract}, outcome.unknown


@pytest.mark.nightly
def test_connections_that_are_not_given_back_run_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One lost connection does no harm yet.
    monkeypatch.setattr(family, "SCENARIOS", scenarios.SCENARIOS[2:4])
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=10, slow_most=10))
    assert found(judged(target_of(LeakingPool), tmp_path, operations=TWO)) == {BROKEN}


@pytest.mark.usefixtures("one_put")
def test_who_sets_no_limit_waits_for_a_silent_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=200, slow_most=200, silences=1))
    (finding,) = judged(target_of(WaitsForEver), tmp_path, operations=["put"]).findings
    assert finding.contract == f"atomicity/{BROKEN}"
    assert "the server does not answer any more at the" in finding.steps[-2]
    assert "never returned" in finding.steps[-1]


@pytest.mark.usefixtures("one_put")
def test_an_answer_that_comes_after_a_standstill_is_not_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=10, slow_most=10, standstills=1))
    (finding,) = judged(target_of(LateAnswers), tmp_path, operations=["put"]).findings
    assert finding.contract == f"atomicity/{BROKEN}"
    assert "the server stands still, and goes on later, at the" in finding.steps[-2]


@pytest.mark.usefixtures("one_put")
@pytest.mark.parametrize(
    ("kind", "blamed"), [(RedisReference, set()), (ScriptLoadedOnce, {BROKEN})]
)
def test_another_server_takes_the_address(
    kind: type[RedisReference],
    blamed: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweep, "injections", lambda *_: [])
    monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: ())
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=1, slow_most=1, failovers=1))
    opening = (
        "from tests.servers.redis_saver import open_saver\n"
        f"from {kind.__module__} import {kind.__name__}\n"
        f"open_saver({kind.__name__}, dsn)"
    )
    outcome = judged(target_of(kind, opening=opening), tmp_path, operations=["put"])
    assert found(outcome) == blamed
    assert all("fail_over()" in finding.reproducer for finding in outcome.findings)
    assert outcome.extra["faults"]["by_kind"][Fault.FAILED_OVER] == 1


def test_messages_are_lost_in_random_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effort = FaultEffort(most=1, slow_most=1, random_programs=8)
    monkeypatch.setattr(family, "SCENARIOS", scenarios.SCENARIOS[1:2])
    monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: ())
    monkeypatch.setitem(EFFORTS, "quick", effort)
    outcome = judged(target_of(RedisReference), tmp_path, operations=TWO)
    assert (found(outcome), outcome.unknown) == (set(), {})
    assert outcome.extra["faults"]["by_kind"]["in random programs"] > 15
    lost = Plan(Fault.CONNECTION_RESET, Place(Event.SEND, 4)).as_data()
    given = {"program": to_json((Put("a", "", 1), Put("a", "", 2))), "faults": {"1": lost}}
    plan = plan_for(tmp_path, "sync", TWO)
    answer = replay(plan, target_of(LostAnswerIsSuccess), "atomicity/no-silent-loss", given)
    assert answer.status is Status.FAILING


@pytest.mark.parametrize(
    ("kind", "contract"),
    [
        (ScansWithGlob, "isolation/hostile-identifiers"),
        by_night(ByArrival, "ordering/list-newest-first"),
    ],
)
def test_a_wrong_answer_is_blamed(
    kind: type[RedisReference], contract: str, tmp_path: Path
) -> None:
    target, (family, _) = target_of(kind), contract.split("/")
    plan = plan_of(target, family, "sync", tmp_path, facts=facts_from(EVERY_OPERATION))
    outcome = hunt(plan, target, contract)
    blamed = {finding.contract for finding in outcome.findings}
    assert contract in blamed
    assert {name.split("/")[0] for name in blamed} == {family}
    if family == "isolation":
        assert "server keeps its files" in outcome.unexercised["isolation/private-files"]


@pytest.mark.nightly
def test_a_lost_message_has_a_script_and_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its script starts a server for itself, and is run before it is shown: that takes seconds.
    monkeypatch.setattr(family, "SCENARIOS", scenarios.SCENARIOS[:1])
    opening = (
        "from tests.servers.redis_saver import open_saver\n"
        "from tests.servers.wrong_redis_savers import LostAnswerIsSuccess\n"
        "open_saver(LostAnswerIsSuccess, dsn)"
    )
    wrong = target_of(LostAnswerIsSuccess, opening=opening)
    finding, *_ = judged(wrong, tmp_path, operations=["put"]).findings
    assert "the connection is reset at the" in finding.steps[-2]
    assert "message to the server (send MULTI, HSET, EXEC)" in finding.steps[-2]
    assert 0 < finding.reproducer.count("\n") <= 70
    assert "saverproof_faults.syscalls" not in finding.reproducer
    plan = plan_for(tmp_path, "sync", ["put"])
    again = replay(plan, wrong, finding.contract, finding.program)
    assert again.status is Status.FAILING
    assert replay(plan, target_of(RedisReference), finding.contract, finding.program).status is (
        Status.FIXED
    )


def test_a_refused_command_has_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = [one for one in scenarios.SCENARIOS if one.title == "the same id again"]
    monkeypatch.setattr(family, "SCENARIOS", again)
    opening = (
        "from tests.servers.redis_saver import open_saver\n"
        "from tests.servers.wrong_redis_savers import DeletesBeforeItSets\n"
        "open_saver(DeletesBeforeItSets, dsn)"
    )
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=200, slow_most=200))
    wrong = target_of(DeletesBeforeItSets, opening=opening)
    finding, *_ = judged(wrong, tmp_path, operations=["put"]).findings
    assert "ResponseError raised by the driver before" in finding.steps[-2]
    assert "from redis.client import Redis as Driver" in finding.reproducer


def test_what_a_full_server_refuses_has_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family, "SCENARIOS", scenarios.SCENARIOS[2:3])
    monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: ())
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=1, slow_most=1, refusals=20))
    opening = (
        "from tests.servers.redis_saver import open_saver\n"
        "from tests.servers.wrong_redis_savers import OneAfterTheOther\n"
        "open_saver(OneAfterTheOther, dsn)"
    )
    wrong = target_of(OneAfterTheOther, opening=opening)
    (finding,) = judged(wrong, tmp_path, operations=["put"]).findings
    assert (
        finding.steps[-2] == "fault: the server has no room for anything throughout the operation"
    )
    assert 'fail_write(path, 1, "full", "")' in finding.reproducer
    plan = plan_for(tmp_path, "sync", ["put"])
    assert replay(plan, wrong, finding.contract, finding.program).status is Status.FAILING
