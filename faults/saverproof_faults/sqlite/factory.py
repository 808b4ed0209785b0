"""Make the fault that carries out a plan."""

from collections.abc import Callable

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.errors import FaultsError
from saverproof_faults.kinds import Fault
from saverproof_faults.sqlite.conditions import DiskFull, LockHeld, ReadOnly
from saverproof_faults.sqlite.engine import CommitRefused, Denied, Interrupt, TriggerAbort
from saverproof_faults.sqlite.enginefault import EngineFault
from saverproof_faults.sqlite.watch import Watch

MAKERS: dict[Fault, Callable[[ArmedPlan, Watch], EngineFault]] = {
    Fault.COMMIT_REFUSED: CommitRefused,
    Fault.INTERRUPT: Interrupt,
    Fault.DENIED: Denied,
    Fault.TRIGGER_ABORT: TriggerAbort,
    Fault.LOCKED: LockHeld,
    Fault.BUSY_COMMIT: LockHeld,
    Fault.DISK_FULL: DiskFull,
    Fault.READ_ONLY: ReadOnly,
}
"""The classes of the faults that SQLite itself raises."""


def engine_fault(armed: ArmedPlan, watch: Watch) -> EngineFault:
    """Return the fault that a plan asks for.

    Raises:
        FaultsError: SQLite does not raise that fault.
    """
    maker = MAKERS.get(armed.plan.fault)
    if maker is None:
        raise FaultsError(f"SQLite does not raise the fault {armed.plan.fault.value!r}")
    return maker(armed, watch)
