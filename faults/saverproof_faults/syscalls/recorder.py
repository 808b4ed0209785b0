"""Record what a process does to the files of a folder, by whichever library."""

import os
from pathlib import Path
from typing import Self

from saverproof_faults.io import MarkKind, Recording, files_below
from saverproof_faults.io.data import entry_from
from saverproof_faults.syscalls.forked import ForkedCallWatch
from saverproof_faults.syscalls.plan import CallFailure, CallFault


class CallRecorder(ForkedCallWatch):
    """A recorder like ``saverproof_faults.io.Recorder`` that records system calls.

    Entering it covers the calling thread.

    The files that are in the folder on entering count as durable. Writes through a shared mapping
    are recorded at the next call or mark. Mappings of files over 4 MiB and rings of io_uring are
    not recorded; ``report().unseen`` names them.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(folder)
        self._initial: dict[str, bytes] = {}
        self._folders: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        self._initial = files_below(self.root)
        root = Path(self.root)
        found = [path for path in root.rglob("*") if path.is_dir()]
        self._folders = tuple(sorted(path.relative_to(root).as_posix() for path in found))
        super().__enter__()
        self.cover()
        self._ask({"command": "record"})
        return self

    def started(self, operation: int) -> None:
        """Mark that an operation begins."""
        self._mark(MarkKind.STARTED, operation)

    def acknowledged(self, operation: int) -> None:
        """Mark that an operation has returned."""
        self._mark(MarkKind.ACKNOWLEDGED, operation)

    def settled(self) -> None:
        """Mark that everything so far has reached the disk."""
        self._mark(MarkKind.SETTLED, 0)

    def fail_sync(self, place: int) -> None:
        """Fail the ``place``-th sync of a file from now on, counted from 1, with EIO."""
        self.arm(CallFault(place, CallFailure.SYNC_FAILED))

    def recording(self) -> Recording:
        """Return what was recorded until now."""
        entries = self._ask({"command": "recorded"})
        return Recording(dict(self._initial), tuple(map(entry_from, entries)), self._folders)

    def _mark(self, kind: MarkKind, operation: int) -> None:
        self._ask({"command": "mark", "kind": kind.value, "operation": operation})
