"""Reads whose server does not answer, or ends their sessions: what savers on Redis make of it.

By night, right savers and other wrong ones; and that a silence is played again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from saverproof.families.answer import Status
from saverproof.families.atomicity import family, fault_programs
from saverproof.families.atomicity.effort import EFFORTS, FaultEffort
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.scenarios import A_NEW_TASK
from saverproof.families.atomicity.trials import bench
from saverproof.families.atomicity.trials.worker import Worker
from saverproof_faults import Fault
from saverproof_faults.servers import Redis, RedisServer, serving
from saverproof_faults.syscalls import available
from tests.conformance.atomicity.test_atomicity import found, judged, plan_for
from tests.conformance.atomicity.test_failed_reads import tally_of
from tests.nights import by_night
from tests.servers.redis_saver import RedisReference, target_of
from tests.servers.wrong_redis_savers import (
    ReadsLeakTheirConnection,
    TimedOutIsNotFound,
    WaitsForEverInReads,
)

_WHY_NOT = RedisServer.missing() or available()
pytestmark = pytest.mark.skipif(_WHY_NOT is not None, reason=str(_WHY_NOT))

OPERATIONS = ["put", "put_writes", "get_tuple", "list"]


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with serving(Redis()):
        yield


@pytest.fixture(autouse=True)
def reads_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly a write fails."""
    monkeypatch.setattr(family, "SCENARIOS", [A_NEW_TASK])
    monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: [])
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=1, slow_most=1, meetings=0, silences=1))


@pytest.mark.parametrize(
    ("kind", "blamed"),
    [
        by_night(RedisReference, set()),
        (TimedOutIsNotFound, {"failed-reads-raise"}),
        by_night(ReadsLeakTheirConnection, {"usable-after-lost-connection"}),
    ],
)
def test_reads_that_do_not_end_well_are_judged(
    kind: type[RedisReference], blamed: set[str], tmp_path: Path
) -> None:
    outcome = judged(target_of(kind), tmp_path, operations=OPERATIONS)
    assert (found(outcome), outcome.unknown) == (blamed, {})
    assert {"in a row", "in reads"} <= outcome.extra["faults"]["by_kind"].keys()


def test_a_read_that_waits_for_a_silent_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing else in this saver waits for long.
    monkeypatch.setattr(bench, "Worker", lambda *_: Worker(0.5))
    (finding,) = tally_of(target_of(WaitsForEverInReads), tmp_path, silences=1).findings
    assert finding.contract == "atomicity/usable-after-lost-connection"
    assert "the server does not answer, and it waits for ever" in finding.summary


@pytest.mark.nightly
def test_a_server_that_falls_silent_in_a_read_is_not_an_empty_one(tmp_path: Path) -> None:
    wrong = target_of(TimedOutIsNotFound)
    (finding,) = judged(wrong, tmp_path, operations=OPERATIONS).findings
    silent = {**finding.program, "fault": {**finding.program["fault"]}}
    silent["fault"] |= {"fault": Fault.SILENCE, "place": {"event": "send", "index": 1}}
    plan = plan_for(tmp_path, "sync", OPERATIONS)
    for saver, expected in ((wrong, Status.FAILING), (target_of(RedisReference), Status.FIXED)):
        assert replay(plan, saver, finding.contract, silent).status is expected
