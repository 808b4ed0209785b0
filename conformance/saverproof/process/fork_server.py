"""A process that forks the other children of a run.

It has imported what the children need: a fresh interpreter takes seconds to do so, each time. It
imports the services and no saver, so that nothing of one child can reach the next. It is ``python
-m saverproof.process.fork_server LISTENER OWNER MODULE...``, started by ``process.forks``.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from saverproof_faults.kill.process import make_forks_cheap, threads

HANDED = 4
"""How many descriptors come with an order: the child's output, and the three that it serves on."""
LONGEST = 1 << 17
"""Most bytes of an order. Most of them are the environment."""
_PATIENCE_S = 10.0
"""Seconds for an order to arrive: clients send it as soon as they have connected."""
_PEER = struct.Struct("3i")
"""The kernel's struct ucred: process, user and group."""

Main = Callable[..., None]


class _OwnerGone(BaseException):
    """The owner has ended, so there is nobody to serve.

    This is no Exception, because it may be raised while a module is imported, and modules catch
    those.
    """


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """An order for a child. No child is made if ``main`` is None."""

    main: Main | None
    descriptors: Sequence[int]
    environment: dict[str, str]

    def become(self, server: int) -> None:
        """Run the ordered main function in this fork, as a new interpreter would.

        ``server`` is the process id of the fork server, with which the child ends.
        """
        assert self.main is not None
        os.setsid()
        output, *served = self.descriptors
        for number in (1, 2):
            os.dup2(output, number)
        os.close(output)
        os.environ.clear()
        os.environ.update(self.environment)
        tempfile.tempdir = None  # as the environment says, from now on
        self.main(*served, server)

    def close(self) -> None:
        """Close the descriptors that came with the order."""
        for descriptor in self.descriptors:
            os.close(descriptor)


class ForkServer:
    """A server that forks children until its owner ends or stops it with SIGTERM."""

    def __init__(self, listener: socket.socket, owner: int, modules: Sequence[str]) -> None:
        self._listener = listener
        self._missing = list(modules)
        self._mains: dict[str, Main] = {}
        self._children: dict[int, int | None] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._take_order)
        self._selector.register(os.pidfd_open(owner), selectors.EVENT_READ, _leave)
        signal.signal(signal.SIGTERM, _leave)

    def serve(self) -> ChildOrder | None:
        """Serve orders until the owner has gone, and return None then.

        In a forked child, return the order that the child carries out.
        """
        try:
            while True:
                ready = self._selector.select(0 if self._missing else None)
                if not ready:
                    # Nobody waits: what is asked for later is imported meanwhile.
                    self._import(self._missing[0])
                elif (order := ready[0][0].data()) is not None:
                    made: ChildOrder = order
                    return made
        except _OwnerGone:
            for child in self._children:
                _kill(child)
            return None

    def _import(self, name: str) -> None:
        self._missing.remove(name)
        gc.disable()
        with suppress(Exception):  # A fresh interpreter will show it.
            self._mains[name] = importlib.import_module(f"{name}.__main__").main
        gc.freeze()
        if not self._missing:
            make_forks_cheap()

    def _take_order(self) -> ChildOrder | None:
        """Accept one order and fork its child. In the child, return the order; else return None.

        If no child can be forked here, close the connection: the process that sent the order then
        starts a fresh interpreter instead.
        """
        connection, _ = self._listener.accept()
        order = self._read(connection)
        process = None
        # A fork has none of the other threads, and perhaps their locks.
        if order.main is not None and threads() == 1:
            with suppress(OSError):  # The system has no room for one more process.
                process = _fork()
        if process == 0:
            self._forget_others(connection)
            return order
        if process is None:
            connection.close()
        else:
            self._watch(process, connection)
        order.close()
        return None

    def _read(self, connection: socket.socket) -> ChildOrder:
        connection.settimeout(_PATIENCE_S)
        data, descriptors, flags = b"", list[int](), 0
        with suppress(OSError):
            data, descriptors, flags, _ = socket.recv_fds(connection, LONGEST, HANDED)
        is_whole = data and not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC)
        if not is_whole or not _is_own(connection):
            return ChildOrder(None, descriptors, {})
        wanted = json.loads(data)
        if wanted["module"] in self._missing:
            self._import(wanted["module"])
        return ChildOrder(self._mains.get(wanted["module"]), descriptors, wanted["environment"])

    def _watch(self, process: int, connection: socket.socket) -> None:
        """Report the end of a child, and end the child when the process that ordered it is gone."""
        self._children[process] = ended = os.pidfd_open(process)

        def tell() -> None:
            self._forget_end(process)
            # Its number is nobody else's until it is waited for.
            told = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            assert told is not None
            by_itself = told.si_code == os.CLD_EXITED
            _say(connection, {"status": told.si_status if by_itself else -told.si_status})

        def bury() -> None:
            self._forget_end(process)
            self._selector.unregister(connection)
            del self._children[process]
            _kill(process)
            connection.close()

        self._selector.register(ended, selectors.EVENT_READ, tell)
        self._selector.register(connection, selectors.EVENT_READ, bury)
        _say(connection, {"process": process})

    def _forget_end(self, process: int) -> None:
        """Stop watching for the end of a child."""
        ended, self._children[process] = self._children[process], None
        if ended is not None:
            self._selector.unregister(ended)
            os.close(ended)

    def _forget_others(self, own: socket.socket) -> None:
        """Close what a child inherits from this process.

        Descriptors that it kept would hide the end of this process, and of others.
        """
        for watched in [own, *(key.fileobj for key in self._selector.get_map().values())]:
            if isinstance(watched, socket.socket):
                watched.close()
            elif isinstance(watched, int):
                os.close(watched)
        self._selector.close()


def _leave(*signalled: object) -> None:
    raise _OwnerGone


def _fork() -> int:
    """Fork this process. SIGTERM ends the child instead of making it leave as the server does."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    return process


def _kill(process: int) -> None:
    """Kill a child and everything that it started."""
    os.kill(process, signal.SIGKILL)
    with suppress(ProcessLookupError):  # It has no group as yet, or nobody is left in it.
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _is_own(connection: socket.socket) -> bool:
    """Return whether the other end belongs to the same user: any user can reach the listener."""
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    _, user, _ = _PEER.unpack(told)
    return bool(user == os.getuid())


def _say(connection: socket.socket, message: dict[str, int]) -> None:
    with suppress(OSError):
        connection.send(json.dumps(message).encode("ascii"))


if __name__ == "__main__":
    listening, owner, *names = sys.argv[1:]
    server = os.getpid()
    with socket.socket(fileno=int(listening)) as listener:
        ordered = ForkServer(listener, int(owner), names).serve()
    if ordered is None:
        os._exit(0)  # Threads that an import left behind are not waited for.
    ordered.become(server)
