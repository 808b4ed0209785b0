"""A watch for a process that will be killed: its supervisor is forked from it and ends with it."""

import os
import signal
import socket
from collections.abc import Callable

from saverproof_faults.syscalls.reading import WatchedFolder
from saverproof_faults.syscalls.supervisor import Supervisor
from saverproof_faults.syscalls.watch import CallWatch


class ForkedCallWatch(CallWatch):
    """A watch for a process with one thread, which is covered and ends soon.

    The supervisor shares the memory mappings of the process, and calls ``before_kill`` before it
    kills. It is in the same process group, and ends by itself when the covered threads have ended.
    """

    def __init__(
        self, folder: str | os.PathLike[str], before_kill: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__(folder)
        self._before_kill = before_kill

    def _start(self, theirs: socket.socket) -> None:
        self.supervisor = os.fork()
        if self.supervisor == 0:
            try:
                # Signal handlers of the parent are not for this process.
                signal.set_wakeup_fd(-1)
                assert self._control is not None
                self._control.close()
                Supervisor(theirs, WatchedFolder(self.root), self._before_kill).serve()
            finally:
                os._exit(0)

    def __exit__(self, *exc_info: object) -> None:
        self._leave()
        self._stay()
