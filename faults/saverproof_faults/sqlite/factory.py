"""From a plan to the fault that carries it out."""

from collections.abc import Callable

from ..errors import FaultsError
from ..kinds import Fault
from ..shots import Shot
from .conditions import DiskFull, LockHeld, ReadOnly
from .engine import CommitRefused, Denied, Interrupt, TriggerAbort
from .enginefault import EngineFault
from .watch import Watch

MAKERS: dict[Fault, Callable[[Shot, Watch], EngineFault]] = {
    Fault.COMMIT_REFUSED: CommitRefused,
    Fault.INTERRUPT: Interrupt,
    Fault.DENIED: Denied,
    Fault.TRIGGER_ABORT: TriggerAbort,
    Fault.LOCKED: LockHeld,
    Fault.BUSY_COMMIT: LockHeld,
    Fault.DISK_FULL: DiskFull,
    Fault.READ_ONLY: ReadOnly,
}
"""The faults that SQLite itself raises."""


def engine_fault(shot: Shot, watch: Watch) -> EngineFault:
    """The fault that a plan asks for. Raises FaultsError for one that SQLite does not raise."""
    maker = MAKERS.get(shot.plan.fault)
    if maker is None:
        raise FaultsError(f"SQLite is not where {shot.plan.fault.value!r} is raised")
    return maker(shot, watch)
