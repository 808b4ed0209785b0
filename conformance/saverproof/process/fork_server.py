"""Forks the children of a run from one process that has imported what they need: a fresh
interpreter takes seconds for that, each time.

``python -m saverproof.process.fork_server LISTENER OWNER MODULE...``, started by ``process.forks``.
It imports the services and no saver, so that nothing of one child can reach the next.
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
"""How many descriptors come with an order: of what is printed, and the three that are served."""
LONGEST = 1 << 17
"""Bytes of an order, most of them its environment."""
_PATIENCE_S = 10.0
_PEER = struct.Struct("3i")

Main = Callable[..., None]


class _OwnerGone(BaseException):
    """There is nobody to serve. Not an Exception: it may come while something is imported."""


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """What a child is to be; none is made without a main function."""

    main: Main | None
    descriptors: Sequence[int]
    environment: dict[str, str]

    def become(self, server: int) -> None:
        """Be it, as if a new interpreter had been started; it was forked from ``server``."""
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
        """Keep nothing that came with it."""
        for descriptor in self.descriptors:
            os.close(descriptor)


class ForkServer:
    """Makes children until its owner has ended, or wants it to end (SIGTERM)."""

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
        """Serve; in a child, give the order that it is for."""
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
        """Make the child of an order; in it, give the order. What cannot be made here is left to
        whoever ordered it.
        """
        connection, _ = self._listener.accept()
        order = self._read(connection)
        process = None
        # A fork has none of the other threads, and perhaps their locks.
        if order.main is not None and threads() == 1:
            with suppress(OSError):  # There is no room for one more.
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
        """Tell of the end of a child, and end it when whoever ordered it is gone."""
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
        """Look for the end of a child no more."""
        ended, self._children[process] = self._children[process], None
        if ended is not None:
            self._selector.unregister(ended)
            os.close(ended)

    def _forget_others(self, own: socket.socket) -> None:
        """What a child does not keep: that would hide the end of this process, and of others."""
        for watched in [own, *(key.fileobj for key in self._selector.get_map().values())]:
            if isinstance(watched, socket.socket):
                watched.close()
            elif isinstance(watched, int):
                os.close(watched)
        self._selector.close()


def _leave(*signalled: object) -> None:
    raise _OwnerGone


def _fork() -> int:
    """Fork; a child never leaves for this process, but is ended by the signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        process = os.fork()
        if process == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    return process


def _kill(process: int) -> None:
    """End a child with all that it started."""
    os.kill(process, signal.SIGKILL)
    with suppress(ProcessLookupError):  # It has no group as yet, or nobody is left in it.
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _is_own(connection: socket.socket) -> bool:
    """Whether the other end is a process of the same user: anybody may find the listener."""
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
