"""Counts the I/O of SQLite below an item's folder and makes it fail. The disk is never waited
for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from saverproof_faults import Fault, Lasts, Plan
from saverproof_faults.io import Extent, Failure, IoCall, IoFault, IoKind, IoWatch, available

FAILURES = {Fault.IO_ERROR: Failure.IO_ERROR, Fault.IO_FULL: Failure.DISK_FULL}
_OK = 0


class FailingDisk(IoWatch):
    """Counts the I/O of SQLite and makes it fail. Syncs never reach the disk.

    The trial's store is looked at by this same process, which sees what it has written even without
    syncs. A trial has a dozen syncs, each of which may take many milliseconds.
    """

    def perform(self, call: IoCall, really: Callable[[], int]) -> int:
        """Count the call, then fail it, or make it with ``really``."""
        return super().perform(call, _nothing if call.kind is IoKind.SYNC else really)

    def calls_since(self, start: int) -> tuple[str, ...]:
        """Return the calls since number ``start``, each with its kind and its file."""
        return tuple(str(call) for call in self.calls[start:])

    @contextmanager
    def following(self, plan: Plan) -> Iterator[None]:
        """Fail calls by a plan, for the length of a block."""
        extent = Extent.ONWARDS if plan.lasts is Lasts.ONWARDS else Extent.ONCE
        self.arm(IoFault(plan.place.index, FAILURES[plan.fault], extent))
        try:
            yield
        finally:
            self.disarm()
        self.check()

    def has_fired(self) -> bool:
        """Return whether the current or latest plan has failed a call."""
        return bool(self.fired)


def _nothing() -> int:
    return _OK


@contextmanager
def watched(folder: Path) -> Iterator[FailingDisk | None]:
    """Yield the failing disk of a folder; None where SQLite's I/O cannot be made to fail."""
    with FailingDisk(folder) if available() is None else nullcontext() as disk:
        yield disk
