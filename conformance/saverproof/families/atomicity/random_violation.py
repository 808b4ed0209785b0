"""What a random program with faults came to."""

from __future__ import annotations

from dataclasses import dataclass

from saverproof.contracts.tables import durability
from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.judging import (
    CANCELLED,
    LATE,
    LOST_CONNECTION,
    SILENT,
    USABLE,
    WHOLE,
    FaultVerdict,
)
from saverproof.steps.definitions import Program

_OUTCOMES = {
    WHOLE: "torn",
    durability.IN_FLIGHT_ATOMIC.id: "torn",
    SILENT: "lost",
    LATE: "late",
    USABLE: "stuck",
    CANCELLED: "torn",
    LOST_CONNECTION: "stuck",
}


@dataclass(frozen=True, slots=True)
class ProgramViolation:
    """What a random program came to: its steps, the fault of each that had one, and the verdict.

    ``databases`` are the SQLite files of its store, relative to the workspace; ``hung`` says that
    a call never returned.
    """

    program: Program
    faults: dict[int, Injection]
    verdict: FaultVerdict
    ending: str
    databases: tuple[str, ...] = ()
    hung: bool = False


def broken(contract: str, summary: str, expected: str = "", observed: str = "") -> FaultVerdict:
    """The verdict that a contract of atomicity is broken."""
    return FaultVerdict(
        _OUTCOMES[contract], contract, summary, expected or "what the call stores", observed
    )
