"""Faults for standalone scripts that show a flaw.

Such a script ends with 1 if the saver has the flaw. If a fault could not be made, the script says
so and ends with 2, so that the trouble is not taken for the saver's.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from threading import Timer

from saverproof_faults.errors import FaultsError
from saverproof_faults.servers import keeper_client
from saverproof_faults.servers.keeper_client import announced
from saverproof_faults.servers.keeper_protocol import Deed, WantedPlace, telling
from saverproof_faults.servers.kinds import ServerKind
from saverproof_faults.servers.leases import Lease
from saverproof_faults.servers.server import ServerError, ServerUnavailable
from saverproof_faults.syscalls import CallFault, CallWatch

UNDECIDED = 2
"""The exit status of a script that has shown nothing. 1 is the status of a flaw."""

Label = str | os.PathLike[str]


@contextmanager
def undecided() -> Iterator[None]:
    """End the process with ``UNDECIDED`` if a fault cannot be made within a block."""
    try:
        yield
    except (FaultsError, ServerError, ServerUnavailable) as problem:
        sys.stderr.write(f"undecided, for the fault could not be made: {problem}\n")
        raise SystemExit(UNDECIDED) from problem


class ScriptWatch(CallWatch):
    """The system calls of a script, counted and failed."""

    def cover(self) -> None:
        """Hold the system calls of this thread, and of what it starts, until the script ends."""
        with undecided():
            self.__enter__()
            super().cover()

    def beside(
        self, serving: Callable[..., AbstractContextManager[None]]
    ) -> Callable[..., AbstractContextManager[None]]:
        """Return a function like ``serving`` that starts a server, and then covers this thread.

        The order matters: the server's own system calls must not be held. The server runs for the
        rest of the script.
        """
        running = ExitStack()
        atexit.register(running.close)
        covered = False

        @contextmanager
        def covering(kind: ServerKind) -> Iterator[None]:
            nonlocal covered
            if not covered:
                running.enter_context(serving(kind))
                self.cover()
                covered = True
            yield

        return covering

    def arm(self, fault: CallFault) -> None:
        """Carry out a plan. Its places are counted from now on."""
        with undecided():
            super().arm(fault)

    def disarm(self) -> None:
        """Let all system calls pass again."""
        with undecided():
            super().disarm()


@contextmanager
def serving(kind: ServerKind, *, proxied: bool = False) -> Iterator[None]:
    """Run a server for the length of a block (see ``keeper_client.serving``)."""
    with ExitStack() as stack:
        with undecided():
            stack.enter_context(keeper_client.serving(kind, proxied=proxied))
        yield


@undecided()
def dsn_for(kind: ServerKind, label: Label) -> str:
    """Return the DSN of the place in the server that a label stands for."""
    return keeper_client.dsn_for(kind, label)


def killing() -> tuple[str, ...]:
    """Return the address and the message by which the server is killed."""
    return next(telling(kept.address, Deed.RESTART) for kept in announced().values())


def failing_over() -> tuple[str, ...]:
    """Return the address and the message by which another server takes a dead one's address."""
    return next(telling(kept.address, Deed.FAIL_OVER) for kept in announced().values())


def freezing() -> tuple[str, ...]:
    """Return the address and the message by which the server is stopped (SIGSTOP)."""
    return next(telling(kept.address, Deed.FREEZE) for kept in announced().values())


@undecided()
def ready() -> None:
    """Wait until servers that were killed have started again."""
    for lease in _leases():
        lease.wait_until_ready()


@undecided()
def restart() -> None:
    """Kill the servers, and start them again."""
    for lease in _leases():
        lease.restart()


@undecided()
def fail_over() -> None:
    """Kill the servers, and let other servers take over their addresses."""
    for lease in _leases():
        lease.fail_over()


@undecided()
def freeze() -> None:
    """Stop the servers (SIGSTOP)."""
    for lease in _leases():
        lease.freeze()


@undecided()
def thaw() -> None:
    """Let stopped servers go on, and wait until they have handled what was sent meanwhile."""
    for lease in _leases():
        lease.thaw()


def thaw_after(seconds: float) -> Timer:
    """Let stopped servers go on after so many seconds, from another thread."""
    timer = Timer(seconds, thaw)
    timer.daemon = True
    timer.start()
    return timer


@undecided()
def end_sessions(label: Label) -> None:
    """Let the server end all sessions in the place with a label (see ``dsn_for``)."""
    for lease in _leases(label):
        lease.end_sessions()


@undecided()
def fail_write(label: Label, number: int, how: str, what: str = "") -> None:
    """Let the server fail at a write in the place with a label (see ``RefusesWrites``)."""
    for lease in _leases(label):
        lease.watch_writes()
        lease.fail_write(number, how, what)


@undecided()
def fail_no_more(label: Label) -> None:
    """Let the server write again in the place with a label."""
    for lease in _leases(label):
        lease.has_failed()


def _leases(label: Label | None = None) -> Iterator[Lease]:
    wanted = WantedPlace(name="") if label is None else WantedPlace(label=os.fspath(label))
    for kept in announced().values():
        with closing(Lease(kept.address, wanted)) as lease:
            yield lease
