"""Processes are killed at each message to a real server, and the server with them.

By day wrong savers; a right one by night.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import psycopg
import pytest

from saverproof import MariaDB, Postgres, Redis, ServerKind
from saverproof.families.answer import Status
from saverproof.families.durability import family, reporting
from saverproof.families.durability import replay as replaying
from saverproof.families.durability.kills import sweep
from saverproof.families.durability.kills.kill_source import KillSource, deaths
from saverproof.families.durability.kills.workloads import SIZES, Workload
from saverproof.families.items import Outcome
from saverproof_faults.servers import place, serving
from saverproof_faults.syscalls import available
from tests.conformance.durability.test_durability import blamed, judged, plan_for
from tests.nights import by_night
from tests.servers import mariadb_saver, postgres_savers, redis_saver

pytestmark = [
    pytest.mark.skipif(available() is not None, reason=str(available())),
    pytest.mark.usefixtures("postgres"),
]


@pytest.fixture(autouse=True)
def a_few_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial opens three connections to a new database."""
    monkeypatch.setattr(sweep, "workloads", lambda _: [Workload("a few", SIZES)])
    monkeypatch.setattr(replaying, "TIMES", 1)


def called(saver: str) -> str:
    return f"{postgres_savers.__name__}:{saver}"


def outcome_of(saver: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **effort: int) -> Outcome:
    return judged(called(saver), folder, monkeypatch, **effort)


@pytest.mark.nightly
def test_a_right_saver_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = outcome_of("right", tmp_path, monkeypatch, swept=8, servers=2)
    assert blamed(outcome) == set()
    assert outcome.checked["durability/in-flight-atomic"] > 0
    crash = outcome.extra["crash"]
    assert crash["kill_points"].keys() >= {"message", "server"}
    assert any("a commit that it has answered outlives" in note for note in crash["notes"])


def test_rows_that_are_committed_one_by_one_are_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts: list[KillSource] = []
    monkeypatch.setattr(family, "shortened", lambda _, __, trial: [trial])
    monkeypatch.setattr(
        reporting, "reproducer", lambda *given: scripts.extend(deaths(given[2][0].place)) or ""
    )
    outcome = outcome_of("autocommitting", tmp_path, monkeypatch, swept=10)
    assert blamed(outcome) == {"in-flight-atomic"}
    (finding,) = outcome.findings
    assert "to the server" in "\n".join(finding.steps)
    assert "KILLED_SENDING" in scripts[0].arm


def test_a_commit_that_is_not_waited_for_is_lost_with_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place(Postgres()) as of_the_run, psycopg.connect(of_the_run.dsn) as others:
        outcome = outcome_of("asynchronous", tmp_path, monkeypatch, swept=2, servers=2)
        # Not even the script kills the server that others use.
        assert others.execute("SELECT 1").fetchone() == (1,)
    assert blamed(outcome) == {"acknowledged-survives"}
    (finding,) = outcome.findings
    assert "and the server with it" in "\n".join(finding.steps)
    assert "restart()" in finding.reproducer
    again = plan_for(called("asynchronous"), tmp_path)
    answer = replaying.replay(*again, finding.contract, finding.program)
    assert answer.status is Status.FAILING


@pytest.mark.parametrize(
    ("kind", "saver"),
    [
        by_night(MariaDB(), mariadb_saver, id="MariaDB"),
        pytest.param(Redis(), redis_saver, id="Redis"),
    ],
)
def test_the_first_opening_and_call_are_killed_at_each_message_of_other_drivers(
    kind: ServerKind, saver: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "workloads", lambda _: [Workload("opening", SIZES[:1])])
    with serving(kind):
        outcome = judged(f"{saver.__name__}:right", tmp_path, monkeypatch, swept=40)
    assert blamed(outcome) == set()
    crash = outcome.extra["crash"]
    # What connects at its first call opens without a message.
    assert crash["kill_points"]["message"] >= 10
    assert crash["places_killed"] == crash["places"]


def test_a_migration_that_cannot_be_repeated_is_met_at_the_next_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family, "shortened", lambda _, __, trial: [trial])
    monkeypatch.setattr(reporting, "reproducer", lambda *_: "")
    monkeypatch.setattr(sweep, "workloads", lambda _: [Workload("opening", SIZES[:1])])
    outcome = outcome_of("migrating", tmp_path, monkeypatch, swept=24)
    assert blamed(outcome) == {"reopens"}
    (finding,) = outcome.findings
    assert "already exists" in finding.observed
