"""The violation that a random program with faults led to."""

from __future__ import annotations

from dataclasses import dataclass

from saverproof.families.atomicity.fault_plans import Injection
from saverproof.families.atomicity.verdicts import (
    FaultVerdict,
)
from saverproof.programs.steps.definitions import Program


@dataclass(frozen=True, slots=True)
class ProgramViolation:
    """The violation that a random program shows: its steps, the fault of each step that had one,
    and the verdict.

    ``databases`` are the SQLite files of the program's store, relative to the workspace. ``hung``
    says that a call never returned, ``closed`` that it shows only once the saver was closed.
    """

    program: Program
    faults: dict[int, Injection]
    verdict: FaultVerdict
    ending: str
    databases: tuple[str, ...] = ()
    hung: bool = False
    closed: bool = False
