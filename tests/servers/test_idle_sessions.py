"""A server ends its idle sessions again and again, and savers go on, or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from saverproof.families.answer import Status
from saverproof.families.atomicity import family
from saverproof.families.atomicity.effort import EFFORTS, FaultEffort
from saverproof.families.atomicity.programs import repeated_faults
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.scenarios import A_NEW_TASK, THE_SAME_ID
from saverproof.families.items import Outcome
from saverproof.families.registry import judged
from saverproof.savers.targets.target import Target
from saverproof_faults import Fault
from saverproof_faults.servers import ServerUnavailable, serving
from tests.conformance.atomicity.test_atomicity import plan_for
from tests.nights import by_night
from tests.servers import mariadb_saver, redis_saver
from tests.servers.idle_savers import loses_the_second, replaces, runs_out, runs_out_in_mariadb

BROKEN, LOST = "atomicity/usable-after-lost-connection", "atomicity/no-silent-loss"
OPERATIONS = ["put", "put_writes"]


@pytest.fixture(autouse=True)
def idle_sessions_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little else fails: the other faults are tried elsewhere."""
    monkeypatch.setattr(family, "SCENARIOS", [THE_SAME_ID, A_NEW_TASK])
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=1, slow_most=1, meetings=0, reads=0))
    monkeypatch.setattr(repeated_faults, "_TRIED", frozenset({Fault.SESSIONS_ENDED}))


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A target while its server runs."""
    target: Target = request.param
    assert target.server is not None
    try:
        with serving(target.server):
            yield target
    except ServerUnavailable as reason:
        pytest.skip(str(reason))


def outcome_of(target: Target, folder: Path) -> Outcome:
    return judged(plan_for(folder, "sync", OPERATIONS), target)


@pytest.mark.parametrize(
    "served",
    [
        by_night(replaces, id="PostgreSQL"),
        by_night(mariadb_saver.right, id="MariaDB"),
        pytest.param(redis_saver.right, id="Redis"),
    ],
    indirect=True,
)
def test_who_connects_again_each_time_is_accused_of_nothing(served: Target, tmp_path: Path) -> None:
    outcome = outcome_of(served, tmp_path)
    assert (outcome.findings, outcome.unknown) == ((), {})
    assert outcome.extra["faults"]["by_kind"]["in a row"] == repeated_faults.TIMES


@pytest.mark.parametrize(
    ("served", "contract"),
    [
        by_night(runs_out, BROKEN, id="PostgreSQL"),
        by_night(runs_out_in_mariadb, BROKEN, id="MariaDB"),
        pytest.param(loses_the_second, LOST, id="Redis"),
    ],
    indirect=["served"],
)
def test_who_goes_on_once_and_no_more_is_found(
    served: Target, contract: str, tmp_path: Path
) -> None:
    (finding,) = outcome_of(served, tmp_path).findings
    assert finding.contract == contract
    assert sum("ends all sessions" in step for step in finding.steps) > 1
    assert "end_sessions(" in finding.reproducer
    plan = plan_for(tmp_path, "sync", OPERATIONS)
    assert replay(plan, served, contract, finding.program).status is Status.FAILING
