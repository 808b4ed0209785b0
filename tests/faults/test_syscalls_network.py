"""Connections to servers, seen and broken below any library by the supervisor process."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest

from saverproof_faults.syscalls import (
    CallFailure,
    CallFault,
    CallKind,
    CallWatch,
    Extent,
    available,
)
from saverproof_faults.syscalls.messages import described

T = TypeVar("T")
PATIENCE_S = 20.0
LOST = (CallFailure.ANSWER_LOST, CallFailure.ANSWER_CUT)

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))


class Server:
    """Does what it is told, a line each, and answers each line with another."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener, self.address = listener, listener.getsockname()
        self.done: list[str] = []
        self.ended = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._listen, daemon=True)]
        self._threads[0].start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
                self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError), connection.makefile("rb") as lines:
            for line in lines:
                self.done.append(line.decode().strip())
                connection.sendall(b"did " + line)
        self.ended.release()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self.listener.close()


@pytest.fixture(params=["tcp", "unix"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    if request.param == "tcp":
        listener = socket.create_server(("127.0.0.1", 0))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / "s"))
        listener.listen()
    server = Server(listener)
    yield server
    server.close()


class Client:
    """A watch, a thread that it covers, and the thread's connection to the server."""

    def __init__(self, watch: CallWatch, thread: ThreadPoolExecutor, server: Server) -> None:
        self.watch, self.server, self._thread = watch, server, thread
        self.connection = socket.socket()

    def run(self, work: Callable[[], T]) -> T:
        return self._thread.submit(work).result(PATIENCE_S)

    def connect(self) -> None:
        self.connection.close()
        self.connection = socket.socket(self.server.listener.family)
        self.connection.settimeout(PATIENCE_S)
        self.connection.connect(self.server.address)

    def two(self) -> list[bytes]:
        """The answers to two requests."""
        answers = []
        for name in (b"one\n", b"two\n"):
            self.connection.sendall(name)
            answers.append(self.connection.recv(100))
        return answers


@pytest.fixture
def client(server: Server, tmp_path: Path) -> Iterator[Client]:
    with CallWatch(tmp_path) as watch, ThreadPoolExecutor(1, initializer=watch.cover) as thread:
        client = Client(watch, thread, server)
        client.run(client.connect)
        yield client
        client.connection.close()


def test_sends_and_openings_are_seen_in_order(client: Client) -> None:
    def work() -> None:
        client.connect()
        client.two()
        client.connection.sendmsg([b"th", b"ree\n"])

    with client.watch.counting() as calls:
        client.run(work)
    assert [str(call) for call in calls] == [
        "connect",
        "send 4 bytes",
        "send 4 bytes",
        "send 6 bytes",
    ]
    assert [call.answered for call in calls] == [False, True, True, False]


def test_what_leads_to_no_server_is_none_of_them(client: Client) -> None:
    def work() -> None:
        one, other = socket.socketpair()
        with one, other:
            one.sendall(b"text")
            other.recv(4)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            datagrams.connect(("127.0.0.1", 9))
        Path(client.watch.root, "a").write_text("text")
        asyncio.run(asyncio.sleep(0))

    with client.watch.counting() as calls:
        client.run(work)
    assert {call.kind for call in calls} == {CallKind.OPEN, CallKind.WRITE}


@pytest.mark.parametrize("place", [1, 2])
def test_a_reset_connection_has_not_sent(client: Client, place: int) -> None:
    with client.watch.failing(CallFault(place, CallFailure.RESET)):
        with pytest.raises(ConnectionResetError):
            client.run(client.two)
        # The server has seen the end before the program goes on.
        assert client.server.ended.acquire(timeout=PATIENCE_S)
    assert client.server.done == ["one", "two"][: place - 1]
    assert [str(call) for call in client.watch.fired] == ["send 4 bytes"]
    with pytest.raises(BrokenPipeError):
        client.run(lambda: client.connection.send(b"more\n"))
    assert client.run(lambda: client.connection.recv(1)) == b""


@pytest.mark.parametrize(("failure", "arrives"), [(LOST[0], b""), (LOST[1], b"did ")])
def test_an_answer_is_lost_when_all_is_done(
    client: Client, failure: CallFailure, arrives: bytes
) -> None:
    def rest(got: bytes) -> bytes:
        while True:
            try:
                piece = client.connection.recv(1)
            except ConnectionResetError:
                return got
            assert piece, "a connection that is reset does not end in order first"
            got += piece

    with client.watch.failing(CallFault(1, failure)):
        client.run(lambda: client.connection.sendall(b"one\n"))
        assert client.server.done == ["one"]
        assert client.run(lambda: rest(b"")) == arrives
    assert client.run(lambda: client.connection.recv(1)) == b""


def test_part_of_an_answer_arrives_by_any_call(client: Client) -> None:
    def work() -> list[bytes]:
        connection = client.connection
        connection.sendall(b"a longer line\n")
        peeked = connection.recv(2, socket.MSG_PEEK)
        one, other = bytearray(1), bytearray(1)
        connection.recvmsg_into([one, other])
        return [peeked, bytes(one + other), os.read(connection.fileno(), 2), connection.recv(50)]

    with client.watch.failing(CallFault(1, CallFailure.ANSWER_CUT)):
        assert client.run(work) == [b"di", b"di", b"d ", b"a lon"]


def test_a_server_falls_silent_until_the_plan_ends(client: Client) -> None:
    told: list[str] = []
    sent = threading.Event()

    def waits() -> bytes:
        client.connection.settimeout(None)
        client.connection.sendall(b"one\n")
        sent.set()
        return client.connection.recv(1)

    def brief() -> bytes:
        client.connection.settimeout(0.05)
        client.connection.sendall(b"one\n")
        return client.connection.recv(1)

    client.watch.arm(CallFault(1, CallFailure.SILENCE))
    with pytest.raises(TimeoutError):
        client.run(brief)
    assert client.server.done == []
    client.watch.disarm()
    client.run(client.connect)
    client.watch.arm(CallFault(1, CallFailure.SILENCE))
    waiting = threading.Thread(target=lambda: told.append(repr(client.run(waits))))
    waiting.start()
    assert sent.wait(PATIENCE_S)
    assert told == []
    client.watch.disarm()
    waiting.join(PATIENCE_S)
    assert told == ["b''"]
    assert client.server.done == []


def test_a_server_is_gone_from_a_place_onwards(client: Client) -> None:
    def work() -> list[str]:
        said = []
        for action in (client.two, client.connect, client.connect):
            try:
                said.append(str(action()))
            except OSError as error:
                said.append(type(error).__name__)
        return said

    with client.watch.failing(CallFault(1, CallFailure.RESET, Extent.ONWARDS)):
        expected = ["ConnectionResetError", "ConnectionRefusedError", "ConnectionRefusedError"]
        assert client.run(work) == expected
    client.run(client.connect)
    assert client.run(client.two) == [b"did one\n", b"did two\n"]


def test_places_of_files_and_of_connections_are_counted_apart(client: Client) -> None:
    def work() -> list[bytes]:
        Path(client.watch.root, "a").write_text("text")
        return client.two()

    with client.watch.failing(CallFault(3)):
        assert client.run(work) == [b"did one\n", b"did two\n"]
    assert client.watch.fired == []
    with client.watch.failing(CallFault(3, CallFailure.RESET)):
        assert client.run(work) == [b"did one\n", b"did two\n"]
    assert client.watch.fired == []


SURVIVED = {CallFailure.RESET, CallFailure.ANSWER_LOST, CallFailure.ANSWER_CUT}


@pytest.mark.parametrize("failure", sorted(SURVIVED))
def test_asynchronous_clients_are_reached(client: Client, failure: CallFailure) -> None:
    async def work() -> list[bytes]:
        reader, writer = await asyncio.open_connection(
            sock=socket.socket(fileno=os.dup(client.connection.fileno()))
        )
        try:
            writer.write(b"one\n")
            await writer.drain()
            return [await reader.readexactly(8)]
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    with (
        client.watch.failing(CallFault(1, failure)),
        pytest.raises((ConnectionError, EOFError)),
    ):
        client.run(lambda: asyncio.run(work()))
    assert len(client.watch.fired) == 1
    assert client.server.done == ([] if failure is CallFailure.RESET else ["one"])


def test_commands_are_named_without_their_values() -> None:
    secret = b"*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n"
    assert described(secret) == "AUTH"
    several = b"*1\r\n$5\r\nmulti\r\n" + 2 * b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n" + secret
    assert described(several) == "MULTI, SET ×2, AUTH"
    assert described(several[:-12]) == "MULTI, SET ×2, AUTH"
    assert described(b"Q\0\0\0\x0dselect 1") == "13 bytes"
    assert described(b"\x17\x03\x03\0\x01*") == "6 bytes of TLS"
