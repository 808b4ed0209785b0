"""What servers do by themselves is counted, and a saver whose server scans is found by that.

By day what MariaDB goes through; by night, PostgreSQL too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from saverproof.families.answer import Status
from saverproof.families.cost import effort, family
from saverproof.families.cost.family import CostFamily
from saverproof.families.cost.stores import Checkpoints, UnchangedValue
from saverproof.families.items import Outcome
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target
from saverproof_faults.servers import (
    MariaDB,
    Postgres,
    Redis,
    ServerUnavailable,
    place,
    postgres_work,
    serving,
)
from saverproof_savers.targets import servers
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.nights import by_night
from tests.servers import mariadb_saver, postgres_savers, redis_saver

BY_ID = "cost/get-by-id"
PUT = "cost/put"
CALLERS = "cost/callers-at-once"


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    try:
        with serving(Postgres()), serving(MariaDB()), serving(Redis()):
            yield
    except ServerUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server goes through at 16 and at 64 is not the same."""
    monkeypatch.setattr(effort, "FACTOR", 2)
    monkeypatch.setitem(effort._LARGEST, "quick", 64)


def judged(target: Target, folder: Path, wanted: str = BY_ID) -> Outcome:
    plan = plan_of(target, "cost", "sync", folder, facts=facts_from(EVERY_OPERATION))
    tally = Tally(plan)
    for contract in {*tally.wanted} - {wanted}:
        tally.rule_out(contract, "left out")
    CostFamily().judge(plan, target, tally)
    return tally.outcome()


@pytest.mark.parametrize(
    "right",
    [
        by_night(postgres_savers.right, id="PostgreSQL"),
        pytest.param(mariadb_saver.right, id="MariaDB"),
    ],
)
def test_a_look_up_by_index_is_held(right: Target, tmp_path: Path) -> None:
    outcome = judged(right, tmp_path)
    assert outcome.findings == ()
    assert BY_ID in outcome.checked
    laws = {law["witness"]: law["order"] for law in outcome.extra["cost"]["laws"]}
    assert laws["rows"] == "constant"
    assert laws.get("unindexed", "constant") == "constant"


@pytest.mark.parametrize(
    "wrong",
    [
        by_night(postgres_savers.scans, id="PostgreSQL"),
        pytest.param(mariadb_saver.scans, id="MariaDB"),
    ],
)
def test_a_scan_in_the_server_is_found_and_shown_by_a_script(
    wrong: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family, "STORES", (Checkpoints,))
    (found,) = judged(wrong, tmp_path).findings
    assert found.contract == BY_ID
    assert found.summary.endswith(
        "rows in its server, without an index, more for each checkpoint in the thread"
    )
    # There is none that has not ended with 1 in a process of its own.
    assert "work.done()" in found.reproducer
    plan = plan_of(wrong, "cost", "sync", tmp_path, facts=facts_from(EVERY_OPERATION))
    assert CostFamily().replay(plan, wrong, BY_ID, found.program).status is Status.FAILING


@pytest.mark.parametrize(
    "wrong", [postgres_savers.right, redis_saver.right], ids=["a driver in C", "one in Python"]
)
def test_a_value_that_is_sent_again_is_found_and_shown_by_a_script(
    wrong: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They keep every contract but those on costs: each checkpoint is sent with all that it holds.
    monkeypatch.setattr(family, "STORES", (UnchangedValue,))
    (found,) = judged(wrong, tmp_path, PUT).findings
    assert found.summary.startswith("put of one more checkpoint writes 1")
    assert found.summary.endswith("more for each byte of a channel that does not change")
    # It counts what the kernel has sent, and has ended with 1 in a process of its own.
    assert "TCP_INFO" in found.reproducer


def test_a_value_that_is_sent_once_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "STORES", (UnchangedValue,))
    outcome = judged(servers.plainredis, tmp_path, PUT)
    assert outcome.findings == ()
    laws = {law["witness"]: law["order"] for law in outcome.extra["cost"]["laws"]}
    assert laws["written"] == "constant"


def test_callers_of_the_official_saver_wait_for_each_other_beside_a_pool(tmp_path: Path) -> None:
    pooled = servers.langgraph_postgres_pool
    (found,) = judged(pooled, tmp_path, CALLERS).findings
    assert found.summary == (
        "1 of 4 callers of get_tuple reaches the database at a time, although its pool has room "
        "for 4 connections"
    )
    assert "meetings.of(calls)" in found.reproducer


def test_a_single_connection_is_no_pool(tmp_path: Path) -> None:
    outcome = judged(servers.langgraph_postgres, tmp_path, CALLERS)
    assert outcome.inapplicable[CALLERS] == (
        "the saver refers to no pool of two connections or more"
    )


def test_the_commands_of_scripts_and_all_keys_that_are_gone_through_count() -> None:
    with (
        place(Redis()) as here,
        Redis().work(here.dsn) as work,
        closing(redis.Redis.from_url(here.dsn)) as client,
    ):
        client.mset({f"key-{number}": "" for number in range(30)})
        client.sadd("set", *range(50))
        for ask, commands, entries in (
            (lambda: client.get("key-1"), 1, 0),
            (lambda: client.keys("key-1"), 1, 31),
            (lambda: client.smembers("set"), 1, 50),
            (lambda: client.scan(count=20), 1, 20),
            (lambda: client.eval("return redis.call('KEYS', 'key-1')", 0), 2, 31),
        ):
            work.begin()
            ask()
            assert work.done() == {"commands": commands, "unindexed": entries}


def test_a_server_that_does_not_count_says_so_in_one_line() -> None:
    with place(Postgres()) as here:
        name = here.dsn.rpartition("/")[2]
        with psycopg.connect(here.dsn, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} SET track_counts = off")
        with pytest.raises(ServerUnavailable) as refused, Postgres().work(here.dsn):
            pass
    assert str(refused.value) == "PostgreSQL counts no rows: track_counts is off"


def test_what_the_planner_is_told_before_is_not_counted() -> None:
    with place(Postgres()) as here:
        with psycopg.connect(here.dsn, autocommit=True) as connection:
            connection.execute("CREATE TABLE numbers AS SELECT generate_series(1, 9999)")
        with Postgres().work(here.dsn) as work:
            work.begin()
            told: Any = work
            # By itself it tells a second later, in the middle of what follows.
            told._connection.execute("SELECT pg_stat_force_next_flush()")
            assert work.done()["blocks"] == 0


def test_what_an_open_session_does_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        place(Postgres()) as here,
        Postgres().work(here.dsn) as work,
        psycopg.connect(here.dsn, autocommit=True) as before,
    ):
        before.execute("CREATE TABLE numbers AS SELECT generate_series(1, 99)")
        before.close()
        work.begin()
        session = psycopg.connect(here.dsn, autocommit=True)
        session.execute("SELECT * FROM numbers").fetchall()
        # It stays open until it is waited for.
        monkeypatch.setattr(postgres_work.time, "sleep", lambda _: session.close())
        assert work.done()["unindexed"] == 99
        assert session.closed


def test_a_session_that_stays_open_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_work, "_PATIENCE_S", 0.1)
    with (
        place(Postgres()) as here,
        Postgres().work(here.dsn) as work,
        psycopg.connect(here.dsn),
        pytest.raises(ServerUnavailable) as refused,
    ):
        work.begin()
    assert str(refused.value) == (
        "PostgreSQL: a session is open although its store was closed: what it has read is not "
        "told before it ends"
    )


def test_a_server_that_lets_nobody_see_its_commands_says_so() -> None:
    with place(Redis()) as here, closing(redis.Redis.from_url(here.dsn)) as client:
        client.acl_setuser(
            "blind", enabled=True, nopass=True, keys="*", commands=["+@all", "-monitor"]
        )
        scheme, _, rest = here.dsn.partition("://")
        with Redis().work(f"{scheme}://blind:any@{rest.rpartition('@')[2]}") as work:
            with pytest.raises(ServerUnavailable) as refused:
                work.begin()
            # The connection is of use to who may see them after all.
            client.acl_setuser("blind", enabled=True, commands=["+monitor"])
            work.begin()
            assert work.done() == {"commands": 0, "unindexed": 0}
        client.acl_deluser("blind")
    assert str(refused.value).startswith("Redis shows none of its commands: NOPERM ")
    assert "\n" not in str(refused.value)
