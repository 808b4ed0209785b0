"""Carry out the I/O faults of plans by means of the VFS shim in ``saverproof_faults.io``."""

import os
from collections.abc import Mapping
from typing import Self

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.errors import FaultsError
from saverproof_faults.io import Extent, Failure, IoFault, IoKind, IoWatch, available
from saverproof_faults.kinds import Event, Fault, Lasts

_KINDS: Mapping[Event, IoKind | None] = {
    Event.IO: None,
    Event.OPEN: IoKind.OPEN,
    Event.WRITE: IoKind.WRITE,
    Event.SYNC: IoKind.SYNC,
    Event.TRUNCATE: IoKind.TRUNCATE,
    Event.DELETE: IoKind.DELETE,
}
_FAILURES = {Fault.IO_ERROR: Failure.IO_ERROR, Fault.IO_FULL: Failure.DISK_FULL}


class IoFaults:
    """A context manager that counts and fails SQLite's I/O below ``folder``."""

    unavailable = staticmethod(available)

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._watch = IoWatch(folder)
        self._armed: ArmedPlan | None = None

    def __enter__(self) -> Self:
        self._watch.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._watch.__exit__(*exc_info)

    def passed(self) -> int:
        """Number of I/O calls seen so far. Pass it to ``calls_since`` later."""
        return self._watch.total

    def calls_since(self, start: int) -> tuple[str, ...]:
        """Return the calls seen since ``start``, each as its kind and its file."""
        return tuple(str(call) for call in self._watch.calls[start:])

    def arm(self, armed: ArmedPlan) -> None:
        """Carry out a plan until ``heal``.

        Raises:
            FaultsError: another plan is armed.
        """
        if self._armed is not None:
            raise FaultsError("one I/O fault can be armed at a time")
        plan = armed.plan
        self._armed = armed
        self._watch.arm(
            IoFault(
                plan.place.index,
                _FAILURES[plan.fault],
                Extent.ONWARDS if plan.lasts is Lasts.ONWARDS else Extent.ONCE,
                _KINDS[plan.place.event],
            )
        )

    def heal(self) -> None:
        """Let all calls pass, and note how often the plan struck."""
        armed, self._armed = self._armed, None
        if armed is not None:
            self._watch.disarm()
            armed.fired += len(self._watch.fired)
        self._watch.check()
