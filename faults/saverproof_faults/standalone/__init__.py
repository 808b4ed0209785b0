"""A fault as a few lines of Python that need only the standard library, for reproducers.

``source(armed, places)`` is program text for the place before the program's own imports. It defines

- for all faults but cancellation: ``Fault.arm()`` and ``Fault.heal()``, to call just before and
    after the operation;
- for a cancellation: ``await cancelled(coroutine)``, which returns once the work has ended.

The faults equal an injector's: they raise the same exception at the same place, and let SQLite
itself raise it if the plan says so. They reach every program that connects by ``sqlite3.connect``.
"""

from collections.abc import Callable
from textwrap import dedent

from saverproof_faults.armed_plans import ArmedPlan
from saverproof_faults.errors import FaultsError
from saverproof_faults.kinds import Fault
from saverproof_faults.places import Places
from saverproof_faults.standalone.cancellation import cancelled
from saverproof_faults.standalone.client import raising
from saverproof_faults.standalone.engine import denied, interrupt, lock, pragma, refused
from saverproof_faults.standalone.trigger import trigger

_MAKERS: dict[Fault, Callable[[ArmedPlan, Places], str]] = {
    Fault.RAISE: raising,
    Fault.TRIGGER_ABORT: trigger,
    Fault.INTERRUPT: interrupt,
    Fault.DENIED: denied,
    Fault.LOCKED: lock,
    Fault.BUSY_COMMIT: lock,
    Fault.READ_ONLY: pragma("query_only", "1", "0"),
    Fault.DISK_FULL: pragma("max_page_count", "{pages}", "1073741823"),
    Fault.COMMIT_REFUSED: refused,
    Fault.CANCEL: cancelled,
}


def source(armed: ArmedPlan, places: Places) -> str:
    """Return program text for a plan that has fired, among the places of the clean run.

    Raises:
        FaultsError: the fault needs this package, as those of I/O and kills do.
    """
    maker = _MAKERS.get(armed.plan.fault)
    if maker is None:
        raise FaultsError(f"{armed.plan.fault.value!r} cannot be reproduced without this package")
    return dedent(maker(armed, places)).strip() + "\n"
