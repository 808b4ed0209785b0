"""The TCP proxy harms a connection exactly where it was told to."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from saverproof_faults.servers import Direction, NetworkFault, NetworkHarm, TcpProxy

TIMEOUT_S = 20.0


class Echo:
    """A server that gives back what it got, and remembers it."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.got = bytearray()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection, suppress(ConnectionError):
                    while data := connection.recv(4096):
                        self.got += data
                        connection.sendall(data)

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()


@pytest.fixture
def echo() -> Iterator[Echo]:
    echo = Echo()
    yield echo
    echo.close()


@pytest.fixture
def proxy(echo: Echo) -> Iterator[TcpProxy]:
    with TcpProxy(echo.port, watchdog_s=0.2) as proxy:
        yield proxy


def talk(proxy: TcpProxy, data: bytes) -> bytes:
    """What comes back of `data`, sent byte by byte and then ended, until the connection ends."""
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=TIMEOUT_S) as connection:
        try:
            for number in range(len(data)):
                connection.sendall(data[number : number + 1])
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            # A reset is told once: to the sender here, or else to the receiver.
            return heard(connection).removesuffix(b"!") + b"!"
        return heard(connection)


def heard(connection: socket.socket) -> bytes:
    """All that comes until the connection ends; '!' at the end of it for a reset."""
    got = b""
    while True:
        try:
            piece = connection.recv(4096)
        except ConnectionResetError:
            return got + b"!"
        if not piece:
            return got
        got += piece


def test_everything_passes_where_nothing_is_armed(proxy: TcpProxy, echo: Echo) -> None:
    assert talk(proxy, b"x" * 5000) == b"x" * 5000
    assert proxy.passed(Direction.TO_SERVER) == proxy.passed(Direction.TO_CLIENT) == 5000
    assert proxy.fired == 0


@pytest.mark.parametrize("after", [0, 1, 7])
def test_a_cut_lets_exactly_so_many_bytes_through(proxy: TcpProxy, echo: Echo, after: int) -> None:
    proxy.arm(NetworkFault(NetworkHarm.CUT, Direction.TO_SERVER, after))
    assert talk(proxy, b"0123456789").endswith(b"!")
    assert proxy.fired == 1
    assert proxy.passed(Direction.TO_SERVER) == after
    assert bytes(echo.got) == b"0123456789"[: len(echo.got)]
    assert len(echo.got) <= after


def test_a_cut_of_the_answer_leaves_the_request_done(proxy: TcpProxy, echo: Echo) -> None:
    proxy.arm(NetworkFault(NetworkHarm.CUT, Direction.TO_CLIENT, 3))
    answer = talk(proxy, b"0123456789")
    assert answer.endswith(b"!")
    assert len(answer) <= 4
    assert len(echo.got) >= 3


def test_a_fault_strikes_once(proxy: TcpProxy) -> None:
    proxy.arm(NetworkFault(NetworkHarm.CUT, Direction.TO_SERVER, 5))
    assert talk(proxy, b"0123456789").endswith(b"!")
    assert talk(proxy, b"0123456789") == b"0123456789"


def test_swallowed_bytes_end_by_the_watchdog(proxy: TcpProxy, echo: Echo) -> None:
    proxy.arm(NetworkFault(NetworkHarm.SWALLOW, Direction.TO_CLIENT, 4))
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=TIMEOUT_S) as connection:
        connection.sendall(b"0123456789")
        assert heard(connection) in (b"!", b"0123!")
    assert proxy.rescued == 1
    assert proxy.fired == 1


def test_delayed_bytes_all_arrive(proxy: TcpProxy) -> None:
    fault = NetworkFault(NetworkHarm.DELAY, Direction.TO_SERVER, 4, delay_s=0.05)
    proxy.arm(fault)
    assert talk(proxy, b"0123456789") == b"0123456789"
    assert proxy.fired == 1


def test_a_disarmed_fault_does_not_strike(proxy: TcpProxy) -> None:
    proxy.arm(NetworkFault(NetworkHarm.CUT, Direction.TO_SERVER, 5))
    proxy.disarm()
    assert talk(proxy, b"0123456789") == b"0123456789"
    assert proxy.fired == 0


def test_a_server_that_is_not_there_resets_the_client() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with TcpProxy(unused.getsockname()[1]) as proxy:
            try:
                answer = talk(proxy, b"x")
            except ConnectionResetError:  # as early as while connecting
                answer = b"!"
    assert answer == b"!"


def test_leaving_ends_open_connections(echo: Echo) -> None:
    with TcpProxy(echo.port) as proxy:
        connection = socket.create_connection(("127.0.0.1", proxy.port), timeout=TIMEOUT_S)
        connection.sendall(b"x")
        assert connection.recv(1) == b"x"
    with connection:
        assert connection.recv(1) == b""


def test_bytes_are_counted_from_zero() -> None:
    with pytest.raises(ValueError, match="from 0, got -1"):
        NetworkFault(NetworkHarm.CUT, Direction.TO_SERVER, -1)
