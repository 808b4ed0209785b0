"""Savers of a service that stores what it was sent a while after its client has gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from tests.conformance.atomicity.test_atomicity import plan_for

from saverproof.families.atomicity.sweeps.shortening import SMALL
from saverproof.families.atomicity.sweeps.sweep import FaultSweep, swept
from saverproof.families.atomicity.trials.bench import FaultBench
from saverproof.families.atomicity.verdicts import CANCELLED
from saverproof.programs.steps.definitions import PutWrites
from saverproof.savers.targets.target import Target

BUSY_S = 0.1
"""Longer than a program beside sockets has to be at rest until nothing more is expected of it."""
LOADED = {"put", "put_writes"}


class Service:
    """Answers numbered requests over a socket, in a thread and an event loop of its own."""

    def __init__(self) -> None:
        self.requests: dict[int, tuple[str, Callable[[], Any]]] = {}
        self.answers: dict[int, Any] = {}
        self.numbers = count()
        self.port = 0
        self.listens = threading.Event()
        self.ends: Callable[[], object] = lambda: None

    def run(self) -> None:
        asyncio.run(self.serve())

    async def serve(self) -> None:
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        self.ends = lambda: loop.call_soon_threadsafe(end.set)
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.listens.set()
        async with server:
            await end.wait()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if line := await reader.readline():
            name, request = self.requests.pop(int(line))
            await asyncio.sleep(BUSY_S if name in LOADED else 0)
            self.answers[int(line)] = request()
            writer.write(line)
        writer.close()


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    made = Service()
    thread = threading.Thread(target=made.run)
    thread.start()
    assert made.listens.wait(10)
    yield made
    made.ends()
    thread.join(10)


class Client(BaseCheckpointSaver[int]):
    """Opens a connection for each request, and closes it if it is cancelled."""

    def __init__(self, service: Service, store: InMemorySaver) -> None:
        super().__init__()
        self.service, self.store = service, store

    async def asked(self, name: str, *given: Any, **named: Any) -> Any:
        service = self.service
        number = next(service.numbers)
        method = getattr(self.store, name)

        def request() -> Any:
            answer = method(*given, **named)
            return list(answer) if name == "list" else answer

        service.requests[number] = (name, request)
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        try:
            writer.write(f"{number}\n".encode())
            await reader.readline()
        finally:
            writer.close()
        return service.answers.pop(number)

    async def aput(self, *given: Any) -> Any:
        return await self.asked("put", *given)

    async def aput_writes(self, *given: Any) -> None:
        await self.asked("put_writes", *given)

    async def aget_tuple(self, config: Any) -> Any:
        return await self.asked("get_tuple", config)

    async def alist(self, config: Any, **options: Any) -> Any:
        for one in await self.asked("list", config, **options):
            yield one


class WriteByWrite(Client):
    """A client that sends each write in a request of its own."""

    async def aput_writes(self, config: Any, writes: Any, *task: Any) -> None:
        for at in range(len(writes)):
            await super().aput_writes(config, writes[: at + 1], *task)


def target_of(saver: type[Client], service: Service) -> Target:
    stores: dict[Path, InMemorySaver] = {}

    @contextmanager
    def opened(workspace: Any) -> Iterator[Any]:
        yield saver(service, stores.setdefault(workspace.path, InMemorySaver()))

    return Target(name="service", open=opened)


def cancelled(sweep: FaultSweep) -> list[str]:
    """Cancel the operation at each place. Return what is broken."""
    verdicts = [
        sweep.judged(injection)[1]
        for injection in sweep.injections
        if injection.kind == "cancellation"
    ]
    assert verdicts
    return [verdict.contract for verdict in verdicts if verdict.contract is not None]


@pytest.mark.parametrize(
    ("saver", "is_broken", "waits"), [(Client, False, True), (WriteByWrite, True, False)]
)
def test_what_a_service_stores_late_is_waited_for(
    saver: type[Client], is_broken: bool, waits: bool, service: Service, tmp_path: Path
) -> None:
    target = target_of(saver, service)
    plan = plan_for(tmp_path, "async", ["put", "put_writes", "get_tuple", "list"])
    scenario = next(one for one in SMALL if isinstance(one.step, PutWrites))
    with FaultBench.opened(plan, target, ()) as bench, ExitStack() as stack:
        sweep = bench.on_worker(lambda: swept(bench, scenario, stack, also_lasting=False))
        broken = cancelled(sweep)
        assert set(broken) == ({CANCELLED} if is_broken else set())
        assert bool(bench.lingering_s) is waits
