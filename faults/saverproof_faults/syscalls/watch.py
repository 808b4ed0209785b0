"""Watching and failing the system calls that a program makes on the files of one folder."""

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

from saverproof_faults.errors import FaultsError, Unavailable
from saverproof_faults.kill import wire
from saverproof_faults.kill.spawn import boot
from saverproof_faults.syscalls.calls import SystemCall
from saverproof_faults.syscalls.filter import available, load
from saverproof_faults.syscalls.plan import CallFault

_ENDS_WITHIN_S = 1


@dataclass(frozen=True, slots=True)
class WatchReport:
    """How many calls were ``held`` so far, and how many the latest plan has ``fired`` at;
    ``unseen`` names what can be written unseen: shared mappings of files, rings of io_uring.
    """

    held: int
    fired: int
    unseen: tuple[str, ...]


class CallWatch:
    """While entered, a supervisor process answers the held calls of threads that were covered.

    ``cover`` is called by each thread that uses the files, before it makes others: a filter reaches
    the threads and processes made later by that thread, and never goes. Those that are still there
    when the watch is left go on, and the supervisor with them, for as long as this process lives.
    Plans follow each other, any number of them.

    Entering raises Unavailable where ``available()`` gives a reason, and NotADirectoryError where
    ``folder`` is none. Each method raises FaultsError if the supervisor has died; what it held
    went on with an error.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        resolved = os.path.realpath(folder)
        if not os.path.isdir(resolved):
            raise NotADirectoryError(f"calls can be watched below a folder only, got {resolved}")
        self.root = resolved
        self.fired: list[SystemCall] = []
        self.supervisor = 0
        """The process id of the supervisor."""
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._asking = threading.Lock()

    def __enter__(self) -> Self:
        if (reason := available()) is not None:
            raise Unavailable(reason)
        self._control, theirs = socket.socketpair()
        with theirs:
            self._start(theirs)
        try:
            # A thread that is covered is not to wait for an interpreter to start.
            self.report()
        except BaseException:
            self.close()
            raise
        return self

    def _start(self, theirs: socket.socket) -> None:
        order = {"control": theirs.fileno(), "root": self.root}
        self._process = subprocess.Popen(
            boot("saverproof_faults.syscalls.supervisor:serve", order, sys.path),
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            process_group=0,
        )
        self.supervisor = self._process.pid

    def __exit__(self, *exc_info: object) -> None:
        process = self._process
        assert process is not None
        self._leave()
        try:
            process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._stay()
        else:
            self.close()

    def close(self) -> None:
        """End the supervisor. Whatever is still covered fails from here on."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.wait()

    @property
    def is_needed(self) -> bool:
        """Whether the supervisor still answers somebody."""
        return self._process is not None and self._process.poll() is None

    def cover(self) -> None:
        """Hold the calls of this thread from now on, and of what it starts.

        Raises Unavailable if the kernel refuses, as it does for a thread covered by another watch.
        """
        with self._asking:
            control = self._control
            assert control is not None
            listener = load(control.fileno(), self.supervisor)
            try:
                wire.send(control, {"command": "listen"})
                socket.send_fds(control, [b"\0"], [listener])
            except OSError as problem:
                raise FaultsError(_DIED) from problem
            finally:
                os.close(listener)
            self._reply()

    def report(self) -> WatchReport:
        """What was seen so far."""
        found = self._ask({"command": "report"})
        return WatchReport(found["held"], found["fired"], tuple(found["unseen"]))

    @contextmanager
    def counting(self) -> Iterator[list[SystemCall]]:
        """A list that holds the calls on the folder's files once the block is left."""
        calls: list[SystemCall] = []
        self._tell({"command": "count"})
        try:
            yield calls
        finally:
            found = self._ask({"command": "counted"})
            calls.extend(SystemCall.from_data(data) for data in found)

    def arm(self, fault: CallFault) -> None:
        """Follow a plan, counting places from now, instead of any earlier one."""
        self.fired = []
        self._tell({"command": "arm", "fault": fault.as_data()})

    def disarm(self) -> None:
        """Let everything pass again; ``fired`` has the calls that were hit.

        Raises FaultsError if a call could not be failed as planned.
        """
        found = self._ask({"command": "disarm"})
        self.fired = [SystemCall.from_data(data) for data in found["fired"]]
        if found["problem"]:
            raise FaultsError(found["problem"])

    @contextmanager
    def failing(self, fault: CallFault) -> Iterator[None]:
        """Follow a plan for the length of a block."""
        self.arm(fault)
        try:
            yield
        finally:
            self.disarm()

    def _stay(self) -> None:
        """Threads that outlive the watch would fail without it: end with this process."""
        _NEEDED.append(self)

    def _leave(self) -> None:
        """Let all that is covered go on undisturbed."""
        with suppress(FaultsError):
            self._ask({"command": "leave"})

    def _ask(self, message: dict[str, Any]) -> Any:
        with self._asking:
            self._send(message)
            return self._reply()

    def _tell(self, message: dict[str, Any]) -> None:
        with self._asking:
            self._send(message)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._control is not None
        try:
            wire.send(self._control, message)
        except OSError as problem:
            raise FaultsError(_DIED) from problem

    def _reply(self) -> Any:
        assert self._control is not None
        try:
            return wire.receive(self._control)
        except (EOFError, OSError) as problem:
            raise FaultsError(_DIED) from problem


_DIED = "the process that answers held system calls has died: nothing is known of this trial"
_NEEDED: list[CallWatch] = []
"""Watches that were left while threads were still covered: they end with this process."""


def any_covered() -> bool:
    """Whether threads are still covered by a watch that was left: no other can cover them."""
    return any(watch.is_needed for watch in _NEEDED)


@atexit.register
def _close_needed() -> None:
    for watch in _NEEDED:
        watch.close()
