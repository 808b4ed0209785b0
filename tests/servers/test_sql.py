"""On real SQL servers right savers are accused of nothing, and wrong ones are for what they do.

What fails is what only a server can do: it refuses a row in the middle of an operation, or ends the
session. A trial opens five connections to a new database, so that there are few.

By day one wrong saver; right ones, and others, by night.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saverproof import MariaDB, Postgres
from saverproof.families.atomicity import family, fault_programs
from saverproof.families.atomicity.effort import EFFORTS, FaultEffort
from saverproof.families.atomicity.fault_plans import Injection, injections
from saverproof.families.atomicity.scenarios import SCENARIOS
from saverproof.families.atomicity.sweeps import sweep
from saverproof.families.atomicity.trials import bench
from saverproof.families.items import Outcome
from saverproof.families.registry import judged
from saverproof.savers.targets.target import Target
from saverproof_faults import Fault
from saverproof_faults.places import OUTAGES, SERVER_FAULTS
from saverproof_faults.servers import ServerUnavailable, serving
from tests.conformance.atomicity.test_atomicity import plan_for
from tests.nights import by_night
from tests.servers import mariadb_saver
from tests.servers.postgres_savers import autocommitting, leaves_open, right, two_transactions

OPERATIONS = ["put", "put_writes", "get_tuple", "list"]
SHOWING = {"a fork, with long values", "a new task"}
"""A checkpoint with values, and a batch of several rows."""
TORN = "atomicity/all-or-nothing"
IN_SQL = {*SERVER_FAULTS} - {Fault.SERVER_FULL}


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    try:
        with serving(Postgres()), serving(MariaDB()):
            yield
    except ServerUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(autouse=True)
def by_the_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else fails: the other faults are tried on other savers."""

    def of_the_server(*arguments: Any) -> list[Injection]:
        found = injections(*arguments)
        return [one for one in found if one.plan is not None and one.plan.fault in IN_SQL]

    monkeypatch.setattr(sweep, "injections", of_the_server)
    monkeypatch.setattr(sweep, "interruptions", lambda calls: [])
    monkeypatch.setitem(EFFORTS, "quick", dataclasses.replace(EFFORTS["quick"], meetings=0))
    monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: [])
    monkeypatch.setattr(family, "shortened", lambda bench, found, *_: [found])
    monkeypatch.setattr(bench, "available", lambda: "not asked")
    few = [scenario for scenario in SCENARIOS if scenario.title in SHOWING]
    assert len(few) == len(SHOWING)
    monkeypatch.setattr(family, "SCENARIOS", few)


def outcome_of(target: Target, folder: Path) -> Outcome:
    return judged(plan_for(folder, "sync", OPERATIONS), target)


# By day these are judged as right savers are, by a part of the faults.
@pytest.mark.nightly
@pytest.mark.parametrize("right", [right, mariadb_saver.right], ids=["PostgreSQL", "MariaDB"])
def test_a_right_saver_is_accused_of_nothing(right: Target, tmp_path: Path) -> None:
    outcome = outcome_of(right, tmp_path)
    assert outcome.findings == ()
    assert outcome.checked[TORN] > 0
    tried = outcome.extra["faults"]["by_kind"].keys() - {"in reads"}
    assert tried == {*IN_SQL, *OUTAGES} - {Fault.FAILED_OVER}
    assert outcome.checked["atomicity/failed-reads-raise"]


def test_where_no_trigger_can_be_put_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=1, slow_most=1, meetings=0))
    batch = [scenario for scenario in SCENARIOS if scenario.title == "a new task"]
    monkeypatch.setattr(family, "SCENARIOS", batch)
    outcome = outcome_of(leaves_open, tmp_path)
    assert outcome.findings == ()
    (note,) = (note for note in outcome.extra["faults"]["notes"] if "not exercised" in note)
    assert note.startswith("faults inside the server not exercised in put_writes: ")
    assert "lock timeout" in note


WRONG = [
    pytest.param(autocommitting, id="autocommitting"),
    by_night(two_transactions, id="two-transactions"),
    by_night(mariadb_saver.half_committing, id="half-committing"),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_saver_is_caught_and_rightly_blamed(
    wrong: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=10, slow_most=10, meetings=0))
    outcome = outcome_of(wrong, tmp_path)
    assert [finding.contract for finding in outcome.findings] == [TORN]
    (finding,) = outcome.findings
    assert "the server" in "\n".join(finding.steps)
    assert "serving(" in finding.reproducer
    assert "fail_write(" in finding.reproducer
