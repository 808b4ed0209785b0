"""Start the children of a run, by forks of one process if possible (``process.fork_server``).

Where there is no such process, for instance outside Linux, each child is a fresh interpreter.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from saverproof.process import fork_server
from saverproof.process.environment import ordered_alike
from saverproof.process.requests import Service

_VARIABLE = "SAVERPROOF_FORKS"
"""The environment variable with the fork server's address. If empty, no fork server is kept."""
_PATIENCE_S = 60.0
"""Seconds for the fork server to end its children and itself before it is killed."""


class SpawnedChild(subprocess.Popen[bytes]):
    """A child that is a fresh interpreter."""

    def bury(self) -> None:
        """Kill the child and everything that it started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self.kill()
        self.wait()


class ForkedChild:
    """A child that was forked. It has the methods of ``SpawnedChild`` that are used."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        self.pid = pid
        self._connection = connection
        self._status: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal to the child."""
        os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the child's end, and return its exit status, or minus the signal that killed it.

        Raises:
            subprocess.TimeoutExpired: the child is still alive after ``timeout`` seconds.
        """
        if self._status is None:
            self._connection.settimeout(timeout)
            try:
                told = self._connection.recv(fork_server.LONGEST)
            except TimeoutError:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from None
            # If the fork server is gone, so is the child.
            self._status = json.loads(told)["status"] if told else -signal.SIGKILL
        return self._status

    def bury(self) -> None:
        """Kill the child and everything that it started."""
        # Before it has run at all, it has no group of its own.
        for end in (os.killpg, os.kill):
            with suppress(ProcessLookupError):
                end(self.pid, signal.SIGKILL)
        self.wait()
        # The fork server still has to wait for the child, and then closes the connection.
        self._connection.shutdown(socket.SHUT_WR)
        while self._connection.recv(fork_server.LONGEST):
            pass
        self._connection.close()


def start(service: Service, output: int, served: Sequence[int]) -> SpawnedChild | ForkedChild:
    """Start a child that prints to ``output`` and serves on the descriptors ``served``.

    It ends with this process. It has a process group of its own: Ctrl-C reaches only pytest, and
    what a saver starts ends with the child.
    """
    arguments = [str(number) for number in (*served, os.getpid())]
    return _forked(service, output, served) or SpawnedChild(
        [sys.executable, "-P", "-m", service.module, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=served,
        start_new_session=True,
        env=ordered_alike(),
    )


def _forked(service: Service, output: int, served: Sequence[int]) -> ForkedChild | None:
    address = os.environ.get(_VARIABLE)
    if not address:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    order = {"module": service.module, "environment": dict(os.environ)}
    with suppress(OSError):
        connection.connect(f"\0{address}")
        socket.send_fds(connection, [json.dumps(order).encode("ascii")], [output, *served])
        if told := connection.recv(fork_server.LONGEST):
            return ForkedChild(json.loads(told)["process"], connection)
    connection.close()
    return None


@contextmanager
def forks_of(services: Iterable[Service]) -> Iterator[None]:
    """Fork the children with these services within a block, including those that children start.

    Do nothing if forking is not possible here, or is switched on already.
    """
    if _VARIABLE in os.environ or not hasattr(os, "pidfd_open"):
        yield
        return
    name = f"saverproof-{secrets.token_hex(16)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        server = _started(listener, [service.module for service in services])
    os.environ[_VARIABLE] = name
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
        _end(server)


def _started(listener: socket.socket, modules: list[str]) -> subprocess.Popen[Any]:
    arguments = [str(listener.fileno()), str(os.getpid()), *modules]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", fork_server.__name__, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[listener.fileno()],
        start_new_session=True,
        env=ordered_alike(),
    )


def _end(server: subprocess.Popen[Any]) -> None:
    server.terminate()
    try:
        server.wait(_PATIENCE_S)  # It ends what it has made.
    finally:
        server.kill()
        server.wait()
