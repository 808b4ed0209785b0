"""What is done to the servers inside of ``serving``, for scripts and for the supervisor of system
calls. Each of these may raise ServerError: the server is not private, or cannot be made to do it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from threading import Timer

from saverproof_faults.servers.keeping import Lease, announced
from saverproof_faults.servers.orders import Deed, Order, Wanted

Label = str | os.PathLike[str]


def telling(address: str, deed: Deed) -> tuple[str, ...]:
    """What to tell a keeper, and where, to have it kill its server (which is started after the
    answer), or make it stand still.
    """
    lines = (asdict(Wanted(name="")), asdict(Order(deed)))
    return (address, *map(json.dumps, lines))


def killing() -> tuple[str, ...]:
    """What to tell, and where, to have the server killed."""
    return next(telling(kept.address, Deed.RESTART) for kept in announced().values())


def freezing() -> tuple[str, ...]:
    """What to tell, and where, to have the server stand still."""
    return next(telling(kept.address, Deed.FREEZE) for kept in announced().values())


def ready() -> None:
    """Wait until servers that were killed have started again."""
    for lease in _leases():
        lease.wait_until_ready()


def restart() -> None:
    """Kill the servers, and start them again."""
    for lease in _leases():
        lease.restart()


def freeze() -> None:
    """Have the servers stand still."""
    for lease in _leases():
        lease.freeze()


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


def end_sessions(label: Label) -> None:
    """Have the server end all sessions in the place of a label (see ``dsn_for``)."""
    for lease in _leases(label):
        lease.end_sessions()


def fail_write(label: Label, number: int, how: str, what: str = "") -> None:
    """Have the server fail at a row from now on, in the place of a label (``RefusesWrites``)."""
    for lease in _leases(label):
        lease.watch_writes()
        lease.fail_write(number, how, what)


def fail_no_more(label: Label) -> None:
    """Have no write fail any more there."""
    for lease in _leases(label):
        lease.has_failed()


def _leases(label: Label | None = None) -> Iterator[Lease]:
    wanted = Wanted(name="") if label is None else Wanted(label=os.fspath(label))
    for kept in announced().values():
        with closing(Lease(kept.address, wanted)) as lease:
            yield lease
