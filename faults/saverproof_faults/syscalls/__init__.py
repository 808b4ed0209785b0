"""System calls on files and connections, watched and failed below any library, in any language.

A supervisor process answers the calls of covered threads (Linux's seccomp user notifications). It
lets a call go on, ends it with an errno or half done, or kills the process. It needs no compiler,
no preloading and no privileges; ``available()`` gives the reason where a system does not support
it.

    reason = available()
    if reason is None:
        with CallWatch(folder) as watch:
            watch.cover()                     # this thread, and what it starts, for good
            with watch.counting() as places:
                store.add(row)                # a clean run
            for place in range(1, len(places) + 1):
                with watch.failing(CallFault(place, CallFailure.DISK_FULL)), suppress(OSError):
                    store.add(row)
                assert watch.fired            # a plan that never fired has tested nothing

Watched are the files below the folder, and stream sockets whose other end has an address: a
server's. Faults of connections (``NETWORK_FAILURES``) have places of their own, the openings and
sends. A fault that loses only the answer waits until the server has done what it was sent.

Writes through a shared mapping or a ring of io_uring are not seen; ``report().unseen`` names such
files.
"""

from saverproof_faults.io.plan import Extent
from saverproof_faults.syscalls.calls import NETWORK, SystemCall
from saverproof_faults.syscalls.filter import available
from saverproof_faults.syscalls.forked import ForkedCallWatch
from saverproof_faults.syscalls.numbers import CallKind
from saverproof_faults.syscalls.plan import NETWORK_FAILURES, CallFailure, CallFault, can_fail
from saverproof_faults.syscalls.recorder import CallRecorder
from saverproof_faults.syscalls.watch import CallWatch, WatchReport, any_covered

__all__ = [
    "NETWORK",
    "NETWORK_FAILURES",
    "CallFailure",
    "CallFault",
    "CallKind",
    "CallRecorder",
    "CallWatch",
    "Extent",
    "ForkedCallWatch",
    "SystemCall",
    "WatchReport",
    "any_covered",
    "available",
    "can_fail",
]
