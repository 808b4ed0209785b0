"""The known drivers of servers, on real ones: each call is seen, and fails with their own error."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import asyncpg
import botocore.session
import pytest
import redis
import redis.asyncio
import valkey.asyncio
from botocore.exceptions import ClientError

from saverproof_faults import Event, Fault, Injector, Moment
from saverproof_faults.servers import MariaDB, Postgres, Redis, Valkey, place

Program = Callable[[], Awaitable[None]]


async def on_asyncpg(dsn: str, stack: AsyncExitStack) -> Program:
    connection = await asyncpg.connect(dsn)
    stack.push_async_callback(connection.close)
    await connection.execute("CREATE TABLE kept (id int)")

    async def program() -> None:
        async with connection.transaction():
            await connection.execute("INSERT INTO kept VALUES ($1)", 1)
            await connection.executemany("INSERT INTO kept VALUES ($1)", [(2,), (3,)])
            assert await connection.fetchval("SELECT count(*) FROM kept") == 3
        assert len(await connection.fetch("DELETE FROM kept RETURNING id")) == 3

    return program


async def on_asyncmy(dsn: str, stack: AsyncExitStack) -> Program:
    url = urlsplit(dsn)
    connection = await asyncmy.connect(
        host=url.hostname, port=url.port, user=url.username, password=url.password, db=url.path[1:]
    )
    stack.callback(connection.close)
    async with connection.cursor() as cursor:
        await cursor.execute("CREATE TABLE kept (id int)")

    async def program() -> None:
        try:
            async with connection.cursor() as cursor:
                await connection.begin()
                await cursor.execute("INSERT INTO kept VALUES (%s)", (1,))
                await connection.commit()
                await cursor.execute("DELETE FROM kept")
        except asyncmy.errors.OperationalError:
            await connection.rollback()
            raise

    return program


def on_commands(module: Any, made: str) -> Callable[[str, AsyncExitStack], Awaitable[Program]]:
    async def begun(dsn: str, stack: AsyncExitStack) -> Program:
        client = getattr(module, made).from_url(dsn.replace("redis://", f"{made.lower()}://"))
        stack.push_async_callback(client.aclose)

        async def program() -> None:
            await client.set("one", 1)
            async with client.pipeline(transaction=True) as pipeline:
                await pipeline.watch("one")
                pipeline.multi()
                await pipeline.set("two", 2).set("three", 3).execute()
                await pipeline.delete("one", "two", "three").execute()

        return program

    return begun


async def on_redis_sync(dsn: str, stack: AsyncExitStack) -> Program:
    client = redis.Redis.from_url(dsn)
    stack.callback(client.close)

    async def program() -> None:
        client.set("one", 1)
        with client.pipeline(transaction=False) as pipeline:
            pipeline.get("one").delete("one").execute()

    return program


CASES = {
    "asyncpg": (
        Postgres(),
        on_asyncpg,
        asyncpg.PostgresError,
        [Event.BEGIN, *[Event.STATEMENT] * 3, Event.COMMIT, Event.STATEMENT],
    ),
    "asyncmy": (
        MariaDB(),
        on_asyncmy,
        asyncmy.errors.OperationalError,
        [Event.BEGIN, Event.STATEMENT, Event.COMMIT, Event.STATEMENT],
    ),
    "redis": (Redis(), on_redis_sync, redis.ResponseError, [Event.STATEMENT] * 2),
    "redis-async": (
        Redis(),
        on_commands(redis.asyncio, "Redis"),
        redis.ResponseError,
        [Event.STATEMENT] * 4,
    ),
    "valkey-async": (
        Valkey(),
        on_commands(valkey.asyncio, "Valkey"),
        valkey.ResponseError,
        [Event.STATEMENT] * 4,
    ),
}


class _Answering(BaseHTTPRequestHandler):
    """A service that answers whatever it is asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nobody reads it."""


@pytest.fixture
def service() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_each_request_of_botocore_fails_as_one_that_the_service_refuses(service: str) -> None:
    key = {"id": {"S": "one"}}
    client = botocore.session.get_session().create_client(
        "dynamodb",
        endpoint_url=service,
        region_name="us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )

    def program() -> None:
        client.put_item(TableName="kept", Item=key)
        client.delete_item(TableName="kept", Key=key)

    with closing(client), Injector() as injector:
        with injector.counting() as counting:
            program()
        assert [call.sql for call in counting.places.calls] == ["PutItem", "DeleteItem"]
        plans = counting.places.plans([Fault.RAISE])
        assert len(plans) == 4
        for plan in plans:
            with injector.armed(plan) as armed, pytest.raises(ClientError) as raised:
                program()
            armed.require_fired()
            assert raised.value.response["Error"]["Code"] == "InternalServerError"


@pytest.mark.parametrize("case", CASES)
def test_each_call_of_a_driver_fails_with_its_own_error(case: str) -> None:
    kind, begun, error, events = CASES[case]

    async def sweep(dsn: str) -> None:
        async with AsyncExitStack() as stack:
            program = await begun(dsn, stack)
            with Injector() as injector:
                with injector.counting() as counting:
                    await program()
                assert [call.event for call in counting.places.calls] == events
                plans = counting.places.plans([Fault.RAISE])
                refusals = [plan for plan in plans if plan.place.moment is Moment.BEFORE]
                assert len(refusals) == len(events) - events.count(Event.BEGIN)
                for plan in refusals:
                    with injector.armed(plan) as armed, pytest.raises(error, match="on purpose"):
                        await program()
                    armed.require_fired()

    with place(kind) as lease:
        asyncio.run(sweep(lease.dsn))
