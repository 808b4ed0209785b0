"""A server fails at the very row or key that is asked for."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest
import redis
from tests.faults.own_kind import OnePlace
from tests.faults.places_support import in_mariadb, there

from saverproof_faults.servers import (
    Keeper,
    Lease,
    MariaDB,
    Need,
    Postgres,
    Redis,
    ServerError,
    ServerKind,
    Valkey,
    Way,
    place,
    serving,
)
from saverproof_faults.servers.keeper_protocol import WantedPlace


@pytest.fixture(scope="module")
def postgres() -> Iterator[ServerKind]:
    with there(Postgres()):
        yield Postgres()


@pytest.fixture(scope="module")
def mariadb() -> Iterator[ServerKind]:
    with there(MariaDB()):
        yield MariaDB()


def test_the_server_fails_at_the_row_that_is_asked_for(postgres: ServerKind) -> None:
    with serving(postgres) as kept, place(postgres) as here:
        visit = Lease(kept.address, WantedPlace(name=here.name))
        with closing(visit), closing(psycopg.connect(here.dsn, autocommit=True)) as client:
            client.execute("CREATE TABLE t (x INT PRIMARY KEY)")
            visit.watch_writes()
            client.execute("INSERT INTO t VALUES (1), (2)")
            client.execute("DELETE FROM t WHERE x = 1")
            assert visit.written() == ["INSERT on t", "INSERT on t", "DELETE on t"]
            visit.fail_write(2, Way.REFUSE)
            client.execute("INSERT INTO t VALUES (3)")
            assert not visit.has_failed()
            with pytest.raises(psycopg.errors.DiskFull):
                client.execute("INSERT INTO t VALUES (4)")
            assert visit.has_failed()
            client.execute("INSERT INTO t VALUES (5)")
            visit.fail_write(1, Way.END)
            with pytest.raises(psycopg.errors.AdminShutdown):
                client.execute("INSERT INTO t VALUES (6)")
            assert visit.has_failed()
            with closing(psycopg.connect(here.dsn)) as again:
                rows = again.execute("SELECT x FROM t ORDER BY x").fetchall()
            assert rows == [(2,), (3,), (5,)]


def test_a_server_that_fails_no_writes_says_so(tmp_path: Path) -> None:
    refused = pytest.raises(ServerError, match="this kind of server fails no writes")
    with (
        Keeper(Need.of(OnePlace()), f"one://{tmp_path / 'place'}") as keeper,
        closing(Lease(keeper.kept.address)) as here,
        refused,
    ):
        here.watch_writes()


@pytest.mark.parametrize(
    ("how", "error"), [(Way.REFUSE, 1114), (Way.LOCK, 1205), (Way.CANCEL, 1317), (Way.END, 1927)]
)
def test_mariadb_fails_at_the_row_that_is_asked_for(
    mariadb: ServerKind, how: Way, error: int
) -> None:
    with serving(mariadb) as kept, place(mariadb) as here:
        visit = Lease(kept.address, WantedPlace(name=here.name))
        with closing(visit), closing(in_mariadb(here.dsn)) as client:
            client.write()
            assert how in visit.watch_writes().ways
            client.run("INSERT INTO t VALUES (1), (2)")
            client.run("COMMIT")
            client.run("INSERT INTO t VALUES (3)")
            client.run("ROLLBACK")
            assert visit.written() == ["INSERT on t", "INSERT on t"]
            visit.fail_write(2, how)
            with pytest.raises(pymysql.Error) as failed:
                client.run("INSERT IGNORE INTO t VALUES (4), (5), (6)")
            assert failed.value.args[0] == error
            assert visit.has_failed()


@pytest.mark.parametrize("kind", [Redis(), Valkey()])
def test_redis_fails_at_the_key_that_is_asked_for(kind: ServerKind) -> None:
    with there(kind) as kept, place(kind) as here:
        visit = Lease(kept.address, WantedPlace(name=here.name))
        with closing(visit), redis.Redis.from_url(here.dsn) as client:

            def work() -> list[Any]:
                with client.pipeline(transaction=False) as pipeline:
                    pipeline.set("a[1]*", 1).sadd("b:0.23456789", 2).expire("a[1]*", 100)
                    done = pipeline.execute(raise_on_error=False)
                with suppress(redis.ResponseError):
                    client.eval("redis.call('HSET', KEYS[1], 'f', 1)", 1, "c")
                return [not isinstance(one, Exception) for one in done]

            visit.watch_writes()
            assert work() == [True, True, True]
            written = visit.written()
            beside = ("SET beside a script on a[1]*", "SADD beside a script on b:")
            assert written == [*beside, "EXPIRE beside a script on a[1]*", "a script"]
            for number, what in enumerate(written):
                client.flushdb()
                visit.watch_writes()
                visit.fail_write(number + 1, Way.REFUSE, what)
                assert work() == [at != number for at in range(3)]
                assert client.exists("c") == (number != 3)
                assert visit.has_failed()
            visit.fail_write(1, Way.FULL)
            assert work() == [False, False, True]
            assert visit.has_failed()
            assert work() == [True, True, True]


@pytest.mark.parametrize("kind", [Redis(), Valkey()])
def test_a_script_is_refused_before_it_writes(kind: ServerKind) -> None:
    """Redis lets a script that has written end, and the script could undo nothing."""
    writes = "redis.call('GET', 'x') redis.call('SET', KEYS[1], 1) redis.call('SADD', 'b', 1)"
    with there(kind) as kept, place(kind) as here:
        visit = Lease(kept.address, WantedPlace(name=here.name))
        with closing(visit), redis.Redis.from_url(here.dsn) as client:
            visit.watch_writes()
            client.eval(writes, 1, "a")
            assert visit.written() == ["a script"]
            visit.watch_writes()
            client.eval("redis.call('DEL', 'c')", 0)
            client.eval(writes, 1, "a")
            client.sadd("b", 1)
            client.sadd("d", 1)
            # A rule for what comes second in a script would stop that script.
            assert visit.written() == [
                "a script",
                "SET in a later script",
                "SADD beside a script on d",
            ]
            visit.watch_writes()
            for script in ("redis.call('DEL', 'c')", writes, "redis.call('DEL', 'c')" + writes):
                client.eval(script, 1, "a")
            # SET may be refused in the second one, and would then stop the third.
            assert visit.written() == ["a script", "DEL in a later script"]
            client.flushdb()
            visit.watch_writes()
            # The second rule is of an operation without scripts, which were written in its place.
            for what in ("a script", "SADD on b"):
                visit.watch_writes()
                visit.fail_write(1, Way.REFUSE, what)
                with pytest.raises(redis.ResponseError):
                    client.eval(writes, 1, "a")
                assert visit.has_failed()
            assert client.dbsize() == 0
