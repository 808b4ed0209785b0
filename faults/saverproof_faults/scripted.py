"""What scripts use that show a flaw. Such a script ends with 1 where the saver has it; where a
fault could not be made, it says so and ends with 2: nobody is to take our trouble for the saver's.
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
"""The status of a script that has shown nothing."""

Label = str | os.PathLike[str]


@contextmanager
def undecided() -> Iterator[None]:
    """End the process with ``UNDECIDED`` where the block fails for a reason of ours."""
    try:
        yield
    except (FaultsError, ServerError, ServerUnavailable) as problem:
        sys.stderr.write(f"undecided, for the fault could not be made: {problem}\n")
        raise SystemExit(UNDECIDED) from problem


class ScriptWatch(CallWatch):
    """The system calls of a script, counted and failed."""

    def cover(self) -> None:
        """Hold the calls of this thread, and of what it starts, until the script ends."""
        with undecided():
            self.__enter__()
            super().cover()

    def beside(
        self, serving: Callable[..., AbstractContextManager[None]]
    ) -> Callable[..., AbstractContextManager[None]]:
        """``serving`` of one server for the rest of the script, which covers once that runs: the
        server's own calls are not to be held.
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
        """Follow a plan, counting places from now."""
        with undecided():
            super().arm(fault)

    def disarm(self) -> None:
        """Let everything pass again."""
        with undecided():
            super().disarm()


@contextmanager
def serving(kind: ServerKind, *, proxied: bool = False) -> Iterator[None]:
    """A server for the block (see ``keeper_client.serving``)."""
    with ExitStack() as stack:
        with undecided():
            stack.enter_context(keeper_client.serving(kind, proxied=proxied))
        yield


@undecided()
def dsn_for(kind: ServerKind, label: Label) -> str:
    """The DSN of the place with a label."""
    return keeper_client.dsn_for(kind, label)


def killing() -> tuple[str, ...]:
    """What to tell, and where, to have the server killed."""
    return next(telling(kept.address, Deed.RESTART) for kept in announced().values())


def failing_over() -> tuple[str, ...]:
    """What to tell, and where, to have another server take the address of one that dies."""
    return next(telling(kept.address, Deed.FAIL_OVER) for kept in announced().values())


def freezing() -> tuple[str, ...]:
    """What to tell, and where, to have the server stand still."""
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
    """Have other servers take the addresses of these, which die."""
    for lease in _leases():
        lease.fail_over()


@undecided()
def freeze() -> None:
    """Have the servers stand still."""
    for lease in _leases():
        lease.freeze()


@undecided()
def thaw() -> None:
    """Let them go on, and wait until they have caught up."""
    for lease in _leases():
        lease.thaw()


def thaw_after(seconds: float) -> Timer:
    """The same in so many seconds, beside."""
    timer = Timer(seconds, thaw)
    timer.daemon = True
    timer.start()
    return timer


@undecided()
def end_sessions(label: Label) -> None:
    """Have the server end all sessions in the place of a label (see ``dsn_for``)."""
    for lease in _leases(label):
        lease.end_sessions()


@undecided()
def fail_write(label: Label, number: int, how: str, what: str = "") -> None:
    """Have the server fail at a row from now on, in the place of a label (``RefusesWrites``)."""
    for lease in _leases(label):
        lease.watch_writes()
        lease.fail_write(number, how, what)


@undecided()
def fail_no_more(label: Label) -> None:
    """Have no write fail any more there."""
    for lease in _leases(label):
        lease.has_failed()


def _leases(label: Label | None = None) -> Iterator[Lease]:
    wanted = WantedPlace(name="") if label is None else WantedPlace(label=os.fspath(label))
    for kept in announced().values():
        with closing(Lease(kept.address, wanted)) as lease:
            yield lease
