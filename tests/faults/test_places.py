"""Stores get places of their own in servers, which are gone afterwards, however that comes.

By night, a script without an end that has written as well.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pymysql
import pytest
import redis
from tests.faults.own_kind import OnePlace
from tests.faults.places_support import CLIENTS, in_postgres, in_redis, there
from tests.nights import by_night
from tests.waiting import eventually, left_of

from saverproof_faults.servers import (
    Keeper,
    Lease,
    Need,
    Postgres,
    Redis,
    RedisStack,
    ServerError,
    ServerKind,
    ServerUnavailable,
    Valkey,
    dsn_for,
    place,
    redis_stack,
    serving,
)
from saverproof_faults.servers.kinds import within

HOLDER = Path(__file__).with_name("place_holder.py")


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


def test_each_store_with_modules_has_database_0_of_its_own_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nothing is loaded then: the server is Valkey, and the places are those of Redis Stack.
    monkeypatch.setattr(redis_stack, "MODULES", {})
    kind = RedisStack()
    with (
        there(Valkey()),
        kind.private(None) as server,
        kind.places_in(server, server.url) as places,
    ):
        found = [urlsplit(places.make(name)) for name in ("one", "two")]
    assert [each.path for each in found] == ["/0", "/0"]
    assert found[0].port != found[1].port


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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_who_uses_it_is_ended(tmp_path: Path, how: signal.Signals) -> None:
    with there(Redis()):
        pass
    told = tmp_path / "told"
    environment = {**os.environ, "SAVERPROOF_KEEPERS": "{}"}
    with subprocess.Popen([sys.executable, HOLDER, "Redis", told], env=environment) as holder:
        assert eventually(lambda: told.exists() or holder.poll() is not None)
        family = psutil.Process(holder.pid).children(recursive=True)
        assert len(family) >= 3  # keeper, guard, server
        # Who ends a container tells all of its processes; a server of another user hears nothing.
        keepers = [one for one in family if "saverproof_faults" in " ".join(one.cmdline())]
        for process in [holder, *(keepers if how is signal.SIGTERM else [])]:
            process.send_signal(how)
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


def test_a_server_that_stands_still_goes_on_with_what_it_was_sent(kind: ServerKind) -> None:
    client = CLIENTS[kind]
    with place(kind) as here, closing(client(here.dsn)) as store, ThreadPoolExecutor(1) as thread:
        here.freeze()
        written = thread.submit(store.write)
        here.thaw()
        written.result()
        here.thaw()
        assert not store.is_empty()


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


def is_busy(dsn: str) -> bool:
    with redis.Redis.from_url(dsn, socket_timeout=60) as client:
        try:
            client.ping()
        except redis.ResponseError as refused:
            return "script" in str(refused)
        return False


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("while true do end", id="reads"),
        by_night("redis.call('SET', 'x', 1) while true do end", id="has-written"),
    ],
)
def test_a_script_that_never_ends_does_not_hold_up_the_others(
    redis_server: ServerKind, script: str
) -> None:
    with (
        place(redis_server) as one,
        redis.Redis.from_url(one.dsn, socket_timeout=60) as client,
        ThreadPoolExecutor() as pool,
    ):
        client.set("kept", "1")
        endless = pool.submit(client.eval, script, 0)
        assert eventually(lambda: is_busy(one.dsn))
        one.end_sessions()
        with pytest.raises(redis.RedisError):
            endless.result()
        assert client.get("kept") == b"1"
        with place(redis_server) as two, redis.Redis.from_url(two.dsn) as other:
            assert other.dbsize() == 0
