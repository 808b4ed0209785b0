"""What is gone once the server has died was in flight, or had been acknowledged before.

A deletion that takes the writes first and the checkpoint then leaves, halfway, just what a server
leaves that has lost the acknowledged writes.

By day wrong savers; a right one by night.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saverproof.families.answer import Status
from saverproof.families.atomicity import family, fault_programs
from saverproof.families.atomicity.effort import EFFORTS, FaultEffort
from saverproof.families.atomicity.fault_plans import Injection, injections
from saverproof.families.atomicity.replay import replay
from saverproof.families.atomicity.sweeps import own_server, sweep
from saverproof.families.atomicity.sweeps.shortening import SMALL
from saverproof.families.registry import judged
from saverproof.programs.steps.definitions import DeleteForRuns
from saverproof.savers.targets.target import Target
from saverproof_faults import Event, Fault
from saverproof_faults.syscalls import available
from tests.conformance.atomicity.test_atomicity import plan_for
from tests.servers.postgres_savers import (
    asynchronous,
    asynchronous_and_torn,
    right,
    writes_then_checkpoints,
)

pytestmark = [
    pytest.mark.skipif(available() is not None, reason=str(available())),
    pytest.mark.usefixtures("postgres"),
]
TORN, LOST = "atomicity/all-or-nothing", "durability/acknowledged-survives"
OPERATIONS = ["put", "put_writes", "get_tuple", "list", "delete_for_runs"]
BY_NIGHT = pytest.mark.nightly
"""For what another saver shows, by day, together with something else."""
DELETION = [one for one in SMALL if isinstance(one.step, DeleteForRuns)]


@pytest.fixture(autouse=True)
def deaths_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server dies at some messages of a deletion, and little else happens."""
    deaths = FaultEffort(most=1, slow_most=1, deaths=8, meetings=0)
    monkeypatch.setitem(EFFORTS, "quick", deaths)
    monkeypatch.setattr(own_server, "_DEATHS_OF_ONE", 8)
    monkeypatch.setattr(family, "SCENARIOS", DELETION)
    monkeypatch.setattr(fault_programs, "faults_in_a_row", lambda *_: [])
    monkeypatch.setattr(family, "shortened", lambda bench, found, *_: [found])
    monkeypatch.setattr(sweep, "injections", lambda *_: [])
    monkeypatch.setattr(sweep, "interruptions", lambda calls: [])


def statements_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(*given: Any) -> list[Injection]:
        plans = (one.plan for one in injections(*given))
        return [
            Injection(plan)
            for plan in plans
            if plan and plan.fault is Fault.RAISE and plan.place.event is Event.STATEMENT
        ]

    monkeypatch.setattr(sweep, "injections", raising)
    monkeypatch.setitem(EFFORTS, "quick", FaultEffort(most=40, slow_most=40, deaths=8, meetings=0))


def told(saver: Target, folder: Path) -> tuple[list[str], list[str]]:
    """The contracts of the findings, and those that are handed to other families."""
    outcome = judged(plan_for(folder, "sync", OPERATIONS), saver)
    of = [[one.contract for one in some] for some in (outcome.findings, outcome.handed)]
    return of[0], of[1]


@BY_NIGHT
def test_acknowledged_calls_that_are_lost_are_not_held_against_the_one_in_flight(
    tmp_path: Path,
) -> None:
    outcome = judged(plan_for(tmp_path, "sync", OPERATIONS), asynchronous)
    assert outcome.findings == ()
    (lost,) = outcome.handed
    assert lost.contract == LOST
    assert lost.observed.startswith("gone: put")
    again = replay(plan_for(tmp_path, "sync", OPERATIONS), asynchronous, LOST, lost.program)
    assert again.status is Status.FAILING


@BY_NIGHT
def test_half_of_a_call_is_torn_though_the_store_once_was_like_that(tmp_path: Path) -> None:
    assert told(writes_then_checkpoints, tmp_path) == ([TORN], [])


def test_both_are_told_of_one_saver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statements_fail(monkeypatch)
    assert told(asynchronous_and_torn, tmp_path) == ([TORN], [LOST])


@pytest.mark.nightly
def test_a_right_saver_is_accused_of_neither(tmp_path: Path) -> None:
    assert told(right, tmp_path) == ([], [])


def test_what_need_not_be_durable_may_go_with_its_server(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, "sync", OPERATIONS)
    cache = Target(name="cache", open=asynchronous.open, server=asynchronous.server, durable=False)
    outcome = judged(plan, cache)
    assert (outcome.findings, outcome.handed) == ((), ())
