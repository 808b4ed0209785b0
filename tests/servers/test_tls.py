"""Connections to a real Redis that are encrypted, and break: sync and async clients, and savers."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.retry import Retry

from saverproof.families.atomicity import family, scenarios
from saverproof_faults.servers import Redis, RedisServer, serving
from saverproof_faults.syscalls import (
    CallFailure,
    CallFault,
    CallWatch,
    SystemCall,
    available,
    can_fail,
)
from tests.conformance.atomicity.test_atomicity import found, judged
from tests.servers.redis_saver import RedisReference, target_of
from tests.servers.test_redis import network_faults
from tests.servers.wrong_redis_savers import LostAnswerIsSuccess

_NO_OPENSSL = None if shutil.which("openssl") else "there is no openssl"
_WHY_NOT = RedisServer.missing() or available() or _NO_OPENSSL
pytestmark = pytest.mark.skipif(_WHY_NOT is not None, reason=str(_WHY_NOT))

FAILURES = (CallFailure.RESET, CallFailure.ANSWER_LOST, CallFailure.ANSWER_CUT)
COUNTER = "counter"
OPTIONS: dict[str, Any] = {"socket_timeout": 4.0, "retry": Retry(NoBackoff(), 0)}
GOODBYE = 24
"""The bytes of the message by which TLS ends a connection."""
_SELF_SIGNED = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=here"
_FOR_HERE = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem")


class TlsRedisServer(RedisServer):
    """Speaks TLS alone, with a certificate of its own making."""

    @property
    def url(self) -> str:
        return super().url.replace("redis:", "rediss:")

    @property
    def certificate(self) -> Path:
        return self.folder / "cert.pem"

    def prepare(self) -> None:
        super().prepare()
        self.run(["openssl", *_SELF_SIGNED.split(), *_FOR_HERE])
        settings = (self.folder / "redis.conf").read_text()
        files = "tls-cert-file cert.pem\ntls-key-file key.pem\ntls-auth-clients no\n"
        self.write_private("redis.conf", settings + files)

    def command(self) -> Sequence[str]:
        *command, port = super().command()
        return [*command, "0", "--tls-port", port]

    def is_ready(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, ssl_ca_certs=str(self.certificate)) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, TlsRedisServer() as server:
        patch.setenv("SSL_CERT_FILE", str(server.certificate))
        patch.setenv(Redis.variable, server.url)
        yield server.url


def count(dsn: str) -> None:
    with redis.Redis.from_url(dsn, **OPTIONS) as client:
        client.incr(COUNTER)


def count_asynchronously(dsn: str) -> None:
    async def work() -> None:
        async with redis.asyncio.Redis.from_url(dsn, **OPTIONS) as client:
            await client.incr(COUNTER)

    asyncio.run(work())


@pytest.mark.parametrize("work", [count, count_asynchronously])
def test_encrypted_messages_are_lost_one_by_one(
    work: Callable[[str], None], dsn: str, tmp_path: Path
) -> None:
    with (
        redis.Redis.from_url(dsn) as elsewhere,
        CallWatch(tmp_path) as watch,
        ThreadPoolExecutor(1, initializer=watch.cover) as thread,
    ):
        with watch.counting() as calls:
            thread.submit(work, dsn).result()
        answered = [at for at, call in enumerate(calls, start=1) if call.answered]
        last = max(at for at in answered if calls[at - 1].size > GOODBYE)
        assert last > 3
        assert str(calls[last - 1]).endswith("of TLS")
        for place, failure in places_in(calls[:last]):
            before = int(elsewhere.incr(COUNTER))
            with watch.failing(CallFault(place, failure)), pytest.raises(redis.ConnectionError):
                thread.submit(work, dsn).result()
            assert [call.kind for call in watch.fired] == [calls[place - 1].kind]
            done = place == last and failure is not CallFailure.RESET
            assert int(elsewhere.incr(COUNTER)) - before == 1 + done


def places_in(calls: list[SystemCall]) -> list[tuple[int, CallFailure]]:
    return [
        (place, failure)
        for place, call in enumerate(calls, start=1)
        for failure in FAILURES
        if can_fail(call, failure) and (call.answered or failure is CallFailure.RESET)
    ]


def test_savers_are_judged_by_what_is_lost_of_an_encrypted_connection(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(family, "SCENARIOS", scenarios.SCENARIOS[1:2])
    monkeypatch.setattr(family, "shortened", lambda _, shown, *__: [shown])
    with serving(Redis()):
        right = judged(target_of(RedisReference), tmp_path / "right", operations=["put"])
        wrong = judged(target_of(LostAnswerIsSuccess), tmp_path / "wrong", operations=["put"])
    assert (found(right), right.unknown) == (set(), {})
    assert right.checked["atomicity/usable-after-lost-connection"] > 5
    assert all(detail.endswith("of TLS") for detail in network_faults(right))
    assert found(wrong) == {"no-silent-loss"}
