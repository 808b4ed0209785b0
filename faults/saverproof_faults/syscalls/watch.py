"""Watch the system calls of a program on the files of one folder, and make some of them fail."""

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
"""Seconds for the supervisor to end; if threads are still covered by then, it stays."""


@dataclass(frozen=True, slots=True)
class WatchReport:
    """The counts of a watch.

    ``held`` counts calls so far, ``fired`` the calls that the latest plan has struck. ``unseen``
    names what can be written unseen: files with shared mappings, and rings of io_uring.
    """

    held: int
    fired: int
    unseen: tuple[str, ...]


class CallWatch:
    """A context manager with a supervisor process, which answers the calls of covered threads.

    Each thread that uses the files calls ``cover`` before it makes other threads: a filter reaches
    only threads and processes that are made later, and is never removed. Threads that are still
    covered when the watch is left go on, and the supervisor with them, as long as this process
    lives. Any number of plans can follow one another.

    Raises:
        Unavailable: calls cannot be held here (see ``available``); raised on entering.
        NotADirectoryError: ``folder`` is not a folder; raised on entering.
        FaultsError: the supervisor has died; raised by any method. Held calls ended with an error.
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
            # Wait for the interpreter to start now, and not in the first call of a covered thread.
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
        """End the supervisor. Calls of threads that are still covered fail from here on."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.wait()

    @property
    def is_needed(self) -> bool:
        """True if the supervisor still has covered threads."""
        return self._process is not None and self._process.poll() is None

    def cover(self) -> None:
        """Hold the calls of this thread, and of what it starts, from now on.

        Raises:
            Unavailable: the kernel refuses, as it does for a thread that another watch covers.
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
        """Return what was seen so far."""
        found = self._ask({"command": "report"})
        return WatchReport(found["held"], found["fired"], tuple(found["unseen"]))

    @contextmanager
    def counting(self) -> Iterator[list[SystemCall]]:
        """Yield a list, which holds the calls on the folder's files after the block."""
        calls: list[SystemCall] = []
        self._tell({"command": "count"})
        try:
            yield calls
        finally:
            found = self._ask({"command": "counted"})
            calls.extend(SystemCall.from_data(data) for data in found)

    def arm(self, fault: CallFault) -> None:
        """Carry out a plan instead of any earlier one. Its places are counted from now on."""
        self.fired = []
        self._tell({"command": "arm", "fault": fault.as_data()})

    def disarm(self) -> None:
        """Let all calls pass again; ``fired`` has the calls that were struck.

        Raises:
            FaultsError: a call could not be made to fail as planned.
        """
        found = self._ask({"command": "disarm"})
        self.fired = [SystemCall.from_data(data) for data in found["fired"]]
        if found["problem"]:
            raise FaultsError(found["problem"])

    @contextmanager
    def failing(self, fault: CallFault) -> Iterator[None]:
        """Carry out a plan for the length of a block."""
        self.arm(fault)
        try:
            yield
        finally:
            self.disarm()

    def _stay(self) -> None:
        """Keep the supervisor until this process ends.

        Threads that outlive the watch would fail without it.
        """
        _NEEDED.append(self)

    def _leave(self) -> None:
        """Let all covered threads go on undisturbed."""
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
"""Watches that were left while threads were still covered. They end with this process."""


def any_covered() -> bool:
    """Return whether a watch that was left still covers threads: no other watch can cover them."""
    return any(watch.is_needed for watch in _NEEDED)


@atexit.register
def _close_needed() -> None:
    for watch in _NEEDED:
        watch.close()
