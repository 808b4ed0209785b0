"""The I/O of SQLite below an item's folder: counted and failed, and never waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from saverproof_faults import Fault, Lasts, Plan
from saverproof_faults.io import Extent, Failure, IoCall, IoFault, IoKind, IoWatch, available

FAILURES = {Fault.IO_ERROR: Failure.IO_ERROR, Fault.IO_FULL: Failure.DISK_FULL}
_OK = 0


class FailingDisk(IoWatch):
    """Syncs are heard, and fail where they are to, but do not reach the disk.

    What a trial leaves is looked at by this process, which sees what it has written either way; a
    trial has a dozen syncs, and each may take many milliseconds.
    """

    def perform(self, call: IoCall, really: Callable[[], int]) -> int:
        """Count the call, then fail it or let it happen."""
        return super().perform(call, _nothing if call.kind is IoKind.SYNC else really)

    def calls_since(self, start: int) -> tuple[str, ...]:
        """The calls seen since then, each its kind and its file."""
        return tuple(str(call) for call in self.calls[start:])

    @contextmanager
    def following(self, plan: Plan) -> Iterator[None]:
        """Follow one plan for the length of a block."""
        extent = Extent.ONWARDS if plan.lasts is Lasts.ONWARDS else Extent.ONCE
        self.arm(IoFault(plan.place.index, FAILURES[plan.fault], extent))
        try:
            yield
        finally:
            self.disarm()
        self.check()

    def has_fired(self) -> bool:
        """Return whether the plan that is followed, or was last, has failed a call."""
        return bool(self.fired)


def _nothing() -> int:
    return _OK


@contextmanager
def watched(folder: Path) -> Iterator[FailingDisk | None]:
    """The disk below a folder; None where SQLite's I/O is out of reach."""
    with FailingDisk(folder) if available() is None else nullcontext() as disk:
        yield disk
