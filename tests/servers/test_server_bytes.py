"""What stores keep in their servers is counted, and a saver that keeps too much is found by it.

By day one server has one of them; the others by night.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from saverproof.families.answer import Status
from saverproof.families.cost import family
from saverproof.families.cost.family import CostFamily
from saverproof.families.cost.questions import BY_NAME
from saverproof.families.cost.stores import Agent, Rounds, RoundsOfPruning
from saverproof.families.items import Outcome
from saverproof.families.tally import Tally
from saverproof.savers.targets.target import Target
from saverproof_faults.servers import (
    MariaDB,
    Postgres,
    Redis,
    ServerKind,
    ServerUnavailable,
    place,
    serving,
)
from saverproof_savers.targets import servers as targets
from tests.conformance.judging_support import EVERY_OPERATION, facts_from, plan_of
from tests.nights import by_night
from tests.servers import keeping_savers, mariadb_saver, postgres_savers, redis_saver

BYTES = "cost/bytes-per-step"
SPACE = "cost/space-given-back"
LARGE = random.Random(0).randbytes(50_000)


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    try:
        with serving(Postgres()), serving(MariaDB()), serving(Redis()):
            yield
    except ServerUnavailable as reason:
        pytest.skip(str(reason))


def judged(target: Target, folder: Path) -> Outcome:
    plan = plan_of(target, "cost", "sync", folder, facts=facts_from(EVERY_OPERATION))
    tally = Tally(plan)
    for contract in {*tally.wanted} - {BYTES, SPACE}:
        tally.rule_out(contract, "left out")
    CostFamily().judge(plan, target, tally)
    return tally.outcome()


WHOLE_STATES = "keeps [3-9][0-9] bytes more for each byte of a channel that does not change"
"""In 32 steps a value is kept as often, and with the writes of each if that is the mistake."""
LEFT_BEHIND = "keeps [0-9,]+ bytes more for each "
AFTER_PRUNING = f"{LEFT_BEHIND}time that the thread was pruned"


@pytest.mark.parametrize(
    ("wrong", "breaks", "said"),
    [
        # By day, one server has one of them; what each of them keeps is counted below.
        by_night(postgres_savers.right, BYTES, WHOLE_STATES),
        by_night(mariadb_saver.right, BYTES, WHOLE_STATES),
        by_night(keeping_savers.each_step_again, BYTES, WHOLE_STATES),
        by_night(keeping_savers.postgres_blobs, SPACE, AFTER_PRUNING),
        (keeping_savers.mariadb_blobs, SPACE, AFTER_PRUNING),
        by_night(keeping_savers.deleted_fields_stay, SPACE, f"{LEFT_BEHIND}thread that was put"),
    ],
)
def test_what_a_server_keeps_too_much_is_found_and_nothing_else(
    wrong: Target, breaks: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = RoundsOfPruning if said.endswith("pruned") else Rounds
    monkeypatch.setattr(family, "STORES", (Agent, rounds))
    outcome = judged(wrong, tmp_path)
    (found,) = outcome.findings
    assert found.contract == breaks
    assert re.search(said, found.summary), found.summary
    kept = [law for law in outcome.extra["cost"]["laws"] if law["witness"] == "kept"]
    assert {law["contract"] for law in kept} == {BYTES, SPACE}
    # There is none that has not ended with 1 in a process of its own.
    assert ".bytes_kept(" in found.reproducer
    plan = plan_of(wrong, "cost", "sync", tmp_path, facts=facts_from(EVERY_OPERATION))
    assert CostFamily().replay(plan, wrong, breaks, found.program).status is Status.FAILING


@pytest.mark.parametrize(
    "right", [targets.langgraph_postgres, targets.langgraph_mysql, targets.plainredis]
)
def test_a_saver_that_leaves_nothing_in_its_server_is_held(
    right: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family, "STORES", (Rounds,))
    monkeypatch.setattr(family, "QUESTIONS", [BY_NAME["Rounds.kept"]])
    outcome = judged(right, tmp_path)
    assert outcome.findings == ()
    assert SPACE in outcome.checked


def test_a_server_that_does_not_tell_what_it_keeps_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Redis, "bytes_kept", ServerKind.bytes_kept)
    monkeypatch.setattr(family, "STORES", (Rounds,))
    outcome = judged(redis_saver.right, tmp_path)
    assert outcome.findings == ()
    assert outcome.unexercised[SPACE] == "Redis is not asked what it keeps"


def test_rows_of_postgresql_count_and_nothing_that_is_gone() -> None:
    with place(Postgres()) as here, psycopg.connect(here.dsn, autocommit=True) as connection:
        before = Postgres().bytes_kept(here.dsn)
        connection.execute('CREATE TABLE "a ""name" (value BYTEA)')
        # A value that the server cannot compress, outside of its row.
        connection.execute('INSERT INTO "a ""name" VALUES (%s)', (LARGE,))
        (number,) = connection.execute("SELECT lo_from_bytea(0, %s)", (LARGE,)).fetchone() or (0,)
        assert Postgres().bytes_kept(here.dsn) - before == pytest.approx(2 * len(LARGE), abs=99)
        connection.execute('DELETE FROM "a ""name"')
        connection.execute("SELECT lo_unlink(%s)", (number,))
        assert Postgres().bytes_kept(here.dsn) == before


def test_rows_of_mariadb_count_and_nothing_that_is_gone() -> None:
    with place(MariaDB()) as here, closing(mariadb_saver.Database(here.dsn)) as database:
        before = MariaDB().bytes_kept(here.dsn)
        database.run("CREATE TABLE `a ``name` (value LONGBLOB, size INTEGER AS (length(value)))")
        database.run("INSERT INTO `a ``name` (value) VALUES (?)", LARGE)
        assert MariaDB().bytes_kept(here.dsn) - before == len(LARGE) + 18
        database.run("DELETE FROM `a ``name`")
        assert MariaDB().bytes_kept(here.dsn) == before


def test_keys_of_redis_count_and_nothing_that_is_gone() -> None:
    with place(Redis()) as here, closing(redis.Redis.from_url(here.dsn)) as client:
        assert Redis().bytes_kept(here.dsn) == 0
        client.set(b"\xff", LARGE)
        client.sadd("a set", LARGE)
        kept = Redis().bytes_kept(here.dsn)
        assert kept == pytest.approx(2 * len(LARGE), abs=99)
        client.delete(b"\xff", "a set")
        assert Redis().bytes_kept(here.dsn) == 0


def test_a_server_that_refuses_says_so_in_one_line() -> None:
    with place(Postgres()) as here:
        role = f"blind_{here.dsn.rpartition('/')[2]}"
        with psycopg.connect(here.dsn, autocommit=True) as connection:
            connection.execute("CREATE TABLE secret ()")
            connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'any'")
            url = urlsplit(here.dsn)
            blind = url._replace(netloc=f"{role}:any@{url.hostname}:{url.port}").geturl()
            said = "PostgreSQL does not tell what it keeps: permission denied"
            with pytest.raises(ServerUnavailable, match=said):
                Postgres().bytes_kept(blind)
            connection.execute(f"DROP ROLE {role}")
    with place(Redis()) as here, closing(redis.Redis.from_url(here.dsn)) as client:
        client.acl_setuser(
            "blind", enabled=True, nopass=True, keys="*", commands=["+@all", "-keys"]
        )
        scheme, _, rest = here.dsn.partition("://")
        said = "Redis does not tell what it keeps: NOPERM"
        with pytest.raises(ServerUnavailable, match=said):
            Redis().bytes_kept(f"{scheme}://blind:any@{rest.rpartition('@')[2]}")
        client.acl_deluser("blind")
